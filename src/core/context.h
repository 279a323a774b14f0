// One inference in flight: inputs, the slot of a framework that it computes on, outputs, and how far it has come. One
// thread at a time has it (Guest::Use); a second one gets `busy`.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>

#include "core/completion.h"
#include "core/context_inputs.h"
#include "core/context_outputs.h"
#include "core/context_resources.h"
#include "core/context_slot.h"
#include "core/context_state.h"
#include "core/metrics/meter.h"
#include "core/scheduler.h"

namespace wasinn::core {

// Writes where a guest's program writes. As in wasinn_guest_options.
struct Printer {
  void (*print)(void* user, const char* text, size_t size) = nullptr;
  void* user = nullptr;
};

class Context {
 public:
  struct Options {
    std::chrono::milliseconds compute_deadline{0};  // 0: none
    uint64_t max_compute_bytes = 0;                 // as in wasinn_slot_options
    std::string guest_config;                       // a JSON object or ""
    bool inputs_by_reference = false;               // policy.inputs
    std::chrono::milliseconds open_deadline{0};     // for making it; 0: none
    const std::atomic<bool>* stop = nullptr;        // becomes true: its making and its runs end soon
    Printer printer;                                // for pieces of texts
  };
  // What a compute tells that is itself within one, as a step of a pipeline is.
  struct Terms {
    std::chrono::milliseconds time_left{0};          // for the backend to know; 0: as its own deadline says
    uint64_t max_bytes = 0;                          // as in wasinn_compute_options
    const std::function<void()>* at_turn = nullptr;  // called when nothing more is waited for; no exceptions
  };
  using Resources = ContextResources;
  static Result<std::unique_ptr<Context>> Create(std::shared_ptr<const Graph> graph, const Options& options,
                                                 const Resources& resources);
  ~Context() { slot_.Close(); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // For later computes.
  void SetTerms(const Terms& terms) {
    terms_ = terms;
    if (terms_.time_left.count() == 0) terms_.time_left = compute_deadline_;
  }

  // Copies `bytes`, which lie in `memory`, into memory of the context as input `index`; or, where the policy says so,
  // leaves them there if the framework can compute on them in place: each compute then reads what is there at its time.
  Status SetInput(uint32_t index, const TensorDesc& given, std::span<const uint8_t> bytes, const GuestMemory& memory) {
    if (meter_.times() != nullptr) [[unlikely]]
      return SetInputTimed(index, given, bytes, memory);
    return inputs_.Set(index, given, bytes, memory);
  }
  // `memory`, which may be NULL, lends the inputs that lie there, and gets the outputs that WantOutput gave a
  // destination. If it cannot take them, they are there nevertheless.
  Status Compute(const GuestMemory* memory);
  // Whether AsyncCompute can do the same.
  bool CanComputeAsync() const {
    return slot_.table().compute_async != nullptr && slot_.is_own() && !graph()->counts_among_computes();
  }
  // Copies output `index` into the beginning of `buffer`. `size` is set to the output's size, also if the buffer is too
  // small for it: then nothing is copied and the status is TOO_LARGE.
  Status GetOutput(uint32_t index, std::span<uint8_t> buffer, uint64_t& size) {
    if (meter_.times() != nullptr) [[unlikely]]
      return GetOutputTimed(index, buffer, size);
    return outputs_.Get(index, buffer, size);
  }
  // The same for callers whose buffer depends on the output's element type.
  Status GetOutput(uint32_t index, const ContextOutputs::BufferOf& buffer_of, uint64_t& size) {
    const Meter::Timing timing(meter_, Stage::kOutput);
    return outputs_.Get(index, buffer_of, size);
  }

  struct Given {
    uint32_t index;
    TensorPtr tensor;
  };
  // All of it in one, in the memory of the call: no input but these is set, before and after, and nothing is left that
  // could be got. What outputs have is in their `size` if it is known, also after TOO_LARGE.
  Status ComputeOnce(std::span<OnceInput> inputs, std::span<OnceOutput> outputs, const GuestMemory& memory);

  // Models that generate piece by piece: the next piece, the first of a generation from the inputs. END_OF_SEQUENCE:
  // nothing more comes. What was generated so far is there for GetOutput. Inputs that lie in the guest's memory are
  // copied for the first, since a generation outlasts the call.
  Status Step(const GuestMemory* memory);
  // Copies the newest piece of output `index`, as GetOutput does.
  Status GetPiece(uint32_t index, std::span<uint8_t> buffer, uint64_t& size);
  // Ends a generation, and sets no input but these for the next.
  Status Start(std::span<const Given> inputs);
  // Ends the generation under way, if there is one. Its outputs stay.
  Status Finish();

  // From now on compute produces only outputs that were wanted, as often as their destinations change.
  Status WantOutput(const Destination& destination) { return outputs_.Want(destination); }
  // The same without destinations, and instead of what was wanted before; none: all.
  Status SelectOutputs(std::span<const uint32_t> indices) { return outputs_.Select(indices); }
  // For Run alone, and before the first: these outputs, ascending, may stay in the memory of the device that computes
  // them. Who takes them gives them only to models that share it.
  void KeepOutputs(std::span<const uint32_t> indices) { outputs_.Keep(indices); }
  // Of a model that tells its outputs only by a run: those of the last compute, so only after one.
  Result<uint32_t> FindOutput(std::string_view name) { return outputs_.Find(name); }

  // The same with tensors that exist apart from the context. The backend computes on the tensor's own bytes and, where
  // it can, gives its output away, so that nothing is copied.
  Status SetInput(uint32_t index, TensorPtr tensor) {
    const Meter::Timing timing(meter_, Stage::kInput);
    return inputs_.Set(index, std::move(tensor));
  }
  // Whether there is such an input.
  Status CheckInput(uint32_t index) const { return inputs_.CheckIndex(index); }
  // More than once gives the same tensor, until the next compute.
  Result<TensorPtr> TakeOutput(uint32_t index) {
    const Meter::Timing timing(meter_, Stage::kOutput);
    return outputs_.TakeOnce(index);
  }
  // An output of Run; null where it cannot be passed as a tensor of numbers. The name lives as long as what Run
  // returns.
  struct Computed {
    std::string_view name;
    TensorPtr tensor;
  };
  // All of it in one: no input but these is set, before and after. `outputs` gets one for each output.
  Result<std::shared_ptr<const void>> Run(std::span<const Given> inputs, std::pmr::vector<Computed>& outputs);

  const std::shared_ptr<const Graph>& graph() const { return slot_.shared_graph(); }

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
  Status Open(const Options& options, const Resources& resources);
  Status SetInputTimed(uint32_t index, const TensorDesc& given, std::span<const uint8_t> bytes,
                       const GuestMemory& memory);
  Status GetOutputTimed(uint32_t index, std::span<uint8_t> buffer, uint64_t& size);
  Status ComputeTimed(const GuestMemory* memory);
  [[gnu::always_inline]] inline Status ComputeAndWrite(const GuestMemory* memory);
  Status BeginOnce(std::span<OnceInput> inputs, std::span<OnceOutput> outputs, const GuestMemory& memory);
  Status ComputeOnceNow(std::span<OnceInput> inputs, std::span<OnceOutput> outputs, const GuestMemory& memory);
  Status StartNow(std::span<const Given> inputs);
  Status StepNow(const GuestMemory* memory);
  Result<std::shared_ptr<const void>> RunNow(std::span<const Given> inputs, std::pmr::vector<Computed>& computed);
  Status Execute(const GuestMemory* memory);
  Status BeginExecuting(const GuestMemory* memory);
  Status EndExecuting(Status status, bool overdue);
  Status CountAndWrite(Status status, const GuestMemory* memory);
  wasinn_compute_options ComputeOptions() const;
  Status ComputeInTurn(const GuestMemory* memory);
  Status ComputeNow(const GuestMemory* memory);
  Status Bind(ContextInputs::Binding& binding);
  Status SetAll(std::span<const Given> inputs);
  Status ComputeOnLoan(const GuestMemory* memory);
  Status ComputeOnSlot();
  bool CanPrint() const;
  Status ComputeBySteps();
  Status PrintPiece();
  Status CountOutputs();
  Status CollectOutputs(std::pmr::vector<Computed>& computed);
  Status CheckGenerates() const;
  Status Failed(Status status, bool overdue) const;
  Status WithOutputs(Status status, bool overdue) const;
  Status Overdue(wasinn_code code, const Status& status) const;
  static Status StillWaits(const Scheduler& scheduler);
  static bool LeavesOutputs(const Status& status);
  void Cancel();

  const std::chrono::milliseconds compute_deadline_;
  const Printer printer_;
  Terms terms_{.time_left = compute_deadline_};
  Counts counts_;
  ContextSlot slot_;
  ContextState state_;
  ContextInputs inputs_;
  ContextOutputs outputs_;
  Meter meter_;  // before its graph goes
  Scheduler& scheduler_;
  Scheduler::Share& share_;
  Scheduler::Waiter waiter_;  // for its turn
  Watched run_;
  Completion completion_;  // of a compute that goes on without a thread
};

}  // namespace wasinn::core
