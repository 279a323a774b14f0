// A session on a slot of a backend: the only place that calls a backend's functions for slots. It remembers for each
// index what is bound there, and binds only what differs.
#pragma once

#include <wasinn/backend.h>

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "base/call_gate.h"
#include "core/inference/interruptible.h"
#include "core/inference/session.h"

namespace wasinn::core {

// Where a backend tells the end of a run that it was given to do without a thread: an address for each of two runs that
// follow each other. So a second end of a run, even one that comes late, finds that it was told. Wrong as that is, nothing
// else happens.
class Completion {
 public:
  explicit Completion(const Backend& backend) : ends_{End{backend}, End{backend}} {}
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  // From now on one end is expected. What `done` of wasinn_backend::compute_async gets for its `user`.
  void* Expect(AsyncCompute& compute) {
    now_ = 1 - now_;
    ends_[now_].compute = &compute;
    ends_[now_].is_expected.store(true, std::memory_order_release);
    return &ends_[now_];
  }
  // None is expected after all. False: it has been told.
  bool Withdraw() { return ends_[now_].is_expected.exchange(false, std::memory_order_acq_rel); }

  // `done` itself. The one that is told may free the completion at once.
  static void Done(void* end, wasinn_error* error) noexcept;

 private:
  struct End {
    const Backend& backend;
    AsyncCompute* compute = nullptr;
    std::atomic<bool> is_expected{false};
  };
  std::array<End, 2> ends_;
  size_t now_ = 0;
};

class BackendSession final : public Session {
 public:
  // Charges what the signature says of outputs before the backend allocates it, so that one of 4 GiB costs nothing.
  // `options` without account. `most` runs of the graph go on at once.
  static Result<std::unique_ptr<Session>> Make(std::shared_ptr<const Graph> graph, wasinn_slot_options options,
                                               uint32_t most, const Resources& resources);
  ~BackendSession() override;

  Status Bind(uint32_t index, const Input& input) override;
  void Unbind(uint32_t index) override;
  Status NewInputMemory(size_t bytes, wasinn_tensor& memory) override;

  Status Run(const InferenceRequest& request) override;
  void Cancel() override;
  bool can_run_async() const override;
  Status Begin(const InferenceRequest& request, AsyncCompute& compute, bool& goes_on) override;
  void CloseGate() override { gate_.Close(); }
  Status End(const InferenceRequest& request, wasinn_error* error) override;

  Status CheckSteps() const override;
  Status Step(const InferenceRequest& request) override;
  Status Piece(uint32_t index, wasinn_tensor& view) override;

  void Discard() override;
  Status View(uint32_t index, const wasinn_tensor*& view) override;
  Result<TensorPtr> Take(uint32_t index) override;
  void Keep(std::span<const uint32_t> indices) override;

 private:
  struct Output {
    uint64_t fixed_bytes = 0;   // by its signature; 0 if that does not say
    wasinn_tensor view{};       // of the last run; struct_size 0: the backend was not asked yet
    BufferPool::Buffer memory;  // of one that is bindable, for runs that name no other
    TensorPtr moved;            // out of a slot that others have by now
    const void* bound = nullptr;
    bool bindable = false;
  };
  class Call;
  class BorrowedInputs;

  BackendSession(std::shared_ptr<const Graph> graph, const Resources& resources);
  const BackendGraph& graph() const { return static_cast<const BackendGraph&>(*graph_); }
  const wasinn_backend& table() const { return graph().backend()->table(); }
  Status StatusOf(wasinn_error* error) const { return graph().Take(error); }
  Status ChargeSignature();
  Status OpenSlot(const wasinn_slot_options& options, uint32_t most, const Resources& resources);
  bool is_stepped() const;

  Status RunOnLease(const InferenceRequest& request);
  Status RunOnSlot(const InferenceRequest& request);
  Status Lease();
  void EndLease();
  Status BindAll(const InferenceRequest& request);
  Status BindInputs(const InferenceRequest& request);
  Status BindInput(uint32_t index, const Input& input);
  Status BindOutputs(const InferenceRequest& request);
  Status BindOutput(uint32_t index, void* destination);
  wasinn_compute_options OptionsOf(const InferenceRequest& request) const;
  Status RunBySteps(const InferenceRequest& request);
  Status PrintPiece(const Printer& printer);
  void SetElsewhere();
  Status EndRun(Status status, const InferenceRequest& request);

  Status ReadDynamic();
  Status ChargeOutputs();
  Status MoveOutputs(const InferenceRequest& request);
  bool LiesInOwn(uint32_t index) const;
  uint64_t FixedBytes(uint32_t index) const { return index < outputs_.size() ? outputs_[index].fixed_bytes : 0; }
  uint64_t BytesInSlot(uint32_t index) const;
  Status Ask(uint32_t index, wasinn_tensor& view) const;
  Status CheckMemory(uint32_t index, const char* memory) const;
  Result<TensorPtr> TakeOwn(uint32_t index);
  Result<TensorPtr> TakeFromSlot(uint32_t index, const wasinn_tensor& view);
  bool grows() const { return grows_ || outgrown_; }
  void Finish() override;

  wasinn_backend_slot* slot_ = nullptr;  // NULL: between two runs of a session that leases one
  bool owns_slot_ = true;                // else it leases one for each run
  bool has_right_ = false;               // to a slot of its own, of those that sessions share
  bool is_pooled_ = false;               // the slot is its own, and another session has it next
  uint64_t max_bytes_ = 0;
  base::CallGate gate_;  // of slot_, which stays while a call is inside
  CancelHook making_;    // of a slot, within a run
  Completion completion_;
  wasinn_compute_options async_options_{};
  wasinn_compute_result async_result_{};

  // The version of the inputs with which everything is bound; 0: something is not, or may not be.
  uint64_t all_bound_ = 0;
  std::vector<uint64_t> bound_;  // versions of the inputs that the slot has; 0: none
  std::vector<Output> outputs_;  // that the graph knows
  wasinn_tensor other_view_{};   // of another one
  std::vector<uint32_t> kept_;
  Reservation static_, dynamic_;  // what signatures say of outputs, and what is held beyond
  bool all_bindable_ = true;      // and so nobody asks the backend where outputs are
  bool elsewhere_ = false;        // but for those of the last run
  bool grows_ = false;            // runs leave more in a slot than a new one has: some shapes are the guest's to choose
  bool outgrown_ = false;         // likewise: an output was larger than its signature said
};

}  // namespace wasinn::core
