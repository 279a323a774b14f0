// A session on a slot of a backend: the only code that binds, computes and cancels on slots. For each index it remembers
// its last binding, and binds only changes.
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

// Receives the backend's report that an asynchronous run has ended. Successive runs use two addresses in turn, so a
// second report of a run, even a late one, is recognised. Such a report is an error of the backend, and has no effect.
class Completion {
 public:
  explicit Completion(const Backend& backend) : ends_{End{backend}, End{backend}} {}
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  // Expects one report from now on. Returns the `user` for `done` of wasinn_backend::compute_async.
  void* Expect(AsyncCompute& compute) {
    now_ = 1 - now_;
    ends_[now_].compute = &compute;
    ends_[now_].is_expected.store(true, std::memory_order_release);
    return &ends_[now_];
  }
  // Expects no report after all. False: it has come already.
  bool Withdraw() { return ends_[now_].is_expected.exchange(false, std::memory_order_acq_rel); }

  // `done` itself. The owner may free the completion inside of it.
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
  // Charges the outputs by the signature before the backend allocates them, so that one of 4 GiB costs nothing.
  // `options` have no account. `most` runs of the graph go on at once.
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
    uint64_t fixed_bytes = 0;   // by its signature; 0: the signature does not fix it
    wasinn_tensor view{};       // of the last run; struct_size 0: the backend was not asked yet
    BufferPool::Buffer memory;  // if it is bindable, for runs without a destination for it
    TensorPtr moved;            // from a slot that other sessions use by now
    const void* bound = nullptr;
    bool bindable = false;
  };
  class Call;

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
  bool has_right_ = false;               // to a slot of its own from the shared ones
  bool is_pooled_ = false;               // the slot is its own, and another session gets it next
  uint64_t max_bytes_ = 0;
  base::CallGate gate_;  // for slot_, which stays while a call is inside
  CancelHook making_;    // of a slot, within a run
  Completion completion_;
  wasinn_compute_options async_options_{};
  wasinn_compute_result async_result_{};

  // The version of the inputs for which everything is bound; 0: something is not bound, or may not be.
  uint64_t all_bound_ = 0;
  std::vector<uint64_t> bound_;  // versions of the inputs in the slot; 0: none
  std::vector<Output> outputs_;  // those that the graph knows
  wasinn_tensor other_view_{};   // of any other output
  std::vector<uint32_t> kept_;
  Reservation static_, dynamic_;  // for the signature's outputs, and for memory beyond it
  bool all_bindable_ = true;      // so the places of outputs are known without the backend
  bool elsewhere_ = false;        // except for outputs of the last run
  bool grows_ = false;            // runs leave more memory in a slot than a new one has: guests choose some shapes
  bool outgrown_ = false;         // an output was larger than its signature said
};

}  // namespace wasinn::core
