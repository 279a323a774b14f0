// wasi-nn's graph-execution-context: a session, and what is staged for it and kept of it between calls. One thread at a
// time has it (Guest::Use); a second one gets `busy`.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/inference/inputs.h"
#include "core/inference/session.h"
#include "core/inference/wanted_outputs.h"
#include "core/metrics/meter.h"

namespace wasinn::core {

// An output that a call wants, in the memory of that call.
struct OnceOutput {
  uint32_t index = 0;
  bool by_name = false;   // in place of the index, as some models tell their outputs only by a compute:
  std::string_view name;  // that the host has
  std::span<uint8_t> buffer;
  uint64_t size = 0;  // what it has, also if the buffer is too small; 0: not known
};

class Context {
 public:
  struct Options {
    std::chrono::milliseconds compute_deadline{0};  // 0: none
    uint64_t max_compute_bytes = 0;                 // as in wasinn_slot_options
    std::string guest_config;                       // a JSON object or ""
    std::chrono::milliseconds open_deadline{0};     // for making it; 0: none
    const std::atomic<bool>* stop = nullptr;        // becomes true: its making and its runs end soon
    Printer printer;                                // for pieces of texts
  };
  // Of a run that is itself within one, as a step of a pipeline is.
  struct Terms {
    std::chrono::milliseconds time_left{0};          // for the backend to know; 0: as its own deadline says
    uint64_t max_bytes = 0;                          // as in wasinn_compute_options
    const std::function<void()>* at_turn = nullptr;  // called when nothing more is waited for; no exceptions
  };
  static Result<std::unique_ptr<Context>> Create(std::shared_ptr<const Graph> graph, const Options& options,
                                                 const Resources& resources);
  ~Context() { session_.reset(); }  // before what is bound there goes
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const std::shared_ptr<const Graph>& graph() const { return graph_; }
  // For later runs.
  void SetTerms(const Terms& terms) {
    terms_ = terms;
    if (terms_.time_left.count() == 0) terms_.time_left = compute_deadline_;
  }

  // ---- Inputs and outputs that stay between calls

  // Copies `bytes` into memory of the context as input `index`.
  Status SetInput(uint32_t index, const TensorDesc& given, std::span<const uint8_t> bytes) {
    const Meter::Timing timing(meter_, Stage::kInput);
    return inputs_->Set(index, given, bytes);
  }
  // The same with a tensor that exists apart from the context. The backend computes on the tensor's own bytes if it can.
  Status SetInput(uint32_t index, TensorPtr tensor) {
    const Meter::Timing timing(meter_, Stage::kInput);
    return inputs_->Set(index, std::move(tensor));
  }
  // Whether there is such an input.
  Status CheckInput(uint32_t index) const { return inputs_->CheckIndex(index); }
  // From now on compute produces only outputs that were wanted, as often as their destinations change.
  Status WantOutput(const Destination& destination);
  // The same without destinations, and instead of what was wanted before; none: all.
  Status SelectOutputs(std::span<const uint32_t> indices);
  // As Session::Keep.
  void KeepOutputs(std::span<const uint32_t> indices) { session_->Keep(indices); }

  // `memory`, which may be NULL, gets the outputs that WantOutput gave a destination. If it cannot take them, they are
  // there nevertheless.
  Status Compute(const GuestMemory* memory);
  // Whether AsyncCompute can do the same.
  bool CanComputeAsync() const { return session_->can_run_async(); }

  // Of a model that tells its outputs only by a run: those of the last compute, so only after one.
  Result<uint32_t> FindOutput(std::string_view name) const;
  // Copies output `index` into the beginning of `buffer`. `size` is set to the output's size, also if the buffer is too
  // small for it: then nothing is copied and the status is TOO_LARGE.
  Status GetOutput(uint32_t index, std::span<uint8_t> buffer, uint64_t& size);
  // The same for callers whose buffer depends on the output's element type.
  using BufferOf = std::function<Result<std::span<uint8_t>>(uint32_t dtype)>;
  Status GetOutput(uint32_t index, const BufferOf& buffer_of, uint64_t& size);
  // The output as a tensor, without a copy if the backend gives it away. More than once gives the same tensor, until the
  // next compute.
  Result<TensorPtr> TakeOutput(uint32_t index);

  // ---- Calls that bring all inputs: none is set before and after, and nothing is left that could be got

  // In the memory of the call. What outputs have is in their `size` if it is known, also after TOO_LARGE.
  Status ComputeOnce(std::span<OnceInput> inputs, std::span<OnceOutput> outputs, const GuestMemory& memory);
  struct TensorInput {
    uint32_t index;
    TensorPtr tensor;
  };
  // An output of Run; null if it cannot be passed as a tensor of numbers. The name lives as long as what Run returns.
  struct TensorOutput {
    std::string_view name;
    TensorPtr tensor;
  };
  // `outputs` gets one for each output.
  Result<std::shared_ptr<const void>> Run(std::span<const TensorInput> inputs, std::pmr::vector<TensorOutput>& outputs);

  // ---- Models that generate piece by piece

  // Ends a generation, and sets no input but these for the next.
  Status Start(std::span<const TensorInput> inputs);
  // The next piece, the first of a generation from the inputs. END_OF_SEQUENCE: nothing more comes. What was generated so
  // far is there for GetOutput.
  Status Step();
  // Copies the newest piece of output `index`, as GetOutput does.
  Status GetPiece(uint32_t index, std::span<uint8_t> buffer, uint64_t& size);
  // Ends the generation under way, if there is one. Its outputs stay.
  Status Finish();

  // What was done since it was made. Any thread may read it.
  struct Counts {
    CopyCount in, out;
    std::atomic<uint64_t> computes{0};
  };
  const Counts& counts() const { return counts_; }

  // From any thread: what runs ends soon, what comes later is refused.
  void CancelForGood() { run_.CancelForGood(); }

 private:
  class Once;
  friend class AsyncCompute;
  Context(std::shared_ptr<const Graph> graph, const Options& options, const Resources& resources);
  Status Open(const Options& options, Resources resources);

  // A run: all that is around Session::Run.
  InferenceRequest Request() const;
  Status Execute(const InferenceRequest& request);
  Status Prepare();
  Status RunInTurn(const InferenceRequest& request);
  static Status StillWaits(const Scheduler& scheduler);
  Status EndRun(Status status, bool overdue);
  Status Failed(Status status, bool overdue) const;
  Status Overdue(wasinn_code code, const Status& status) const;
  void Cancel();

  Status WriteOutputs(const GuestMemory& memory);
  Status WriteOutput(const Destination& destination, const GuestMemory& memory);
  Status CheckWantable(uint32_t index) const;
  Status CheckOutput(uint32_t index, const WantedOutputs& wanted) const;
  Status View(uint32_t index, const wasinn_tensor*& view);

  Status SetAll(std::span<const TensorInput> inputs);
  Status CollectOutputs(std::pmr::vector<TensorOutput>& computed);
  Status ComputeOnceNow(std::span<OnceInput> inputs, std::span<OnceOutput> outputs, const GuestMemory& memory);
  Status CheckOnceOutputs(std::span<OnceOutput> outputs, std::span<void*> marks) const;
  void SelectOnce(std::span<const OnceOutput> outputs);
  bool CanWriteInPlace(const OnceOutput& output, const GuestMemory& memory) const;
  Status GiveOnce(std::span<OnceOutput> outputs, std::span<void* const> destinations);
  Status StepNow();

  const std::shared_ptr<const Graph> graph_;
  const std::chrono::milliseconds compute_deadline_;
  const Printer printer_;
  Terms terms_{.time_left = compute_deadline_};
  Counts counts_;
  CopyCount& count_out_;
  std::unique_ptr<Session> session_;
  std::optional<Inputs> inputs_;
  WantedOutputs wanted_, wanted_once_;
  std::vector<TensorPtr> taken_;  // outputs of the last compute that were given away
  wasinn_tensor taken_view_{};    // of one of them
  Meter meter_;                   // before its graph goes
  Scheduler& scheduler_;
  Scheduler::Share& share_;
  Scheduler::Waiter waiter_;  // for its turn
  Watched run_;
};

}  // namespace wasinn::core
