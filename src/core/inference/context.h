// wasi-nn's graph-execution-context: a session, with its staged inputs and its outputs between calls. One thread at a
// time has it (Guest::Use); a second one gets `busy`.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/inference/inputs.h"
#include "core/inference/session.h"
#include "core/metrics/meter.h"

namespace wasinn::core {

// Memory for lists that live during one call, usually without malloc: guests and models decide how long the lists are,
// and nearly all are short.
struct ScratchMemory {
  alignas(std::max_align_t) std::byte bytes[1024];
  std::pmr::monotonic_buffer_resource resource{bytes, sizeof bytes};
};

// The place in a guest's memory for an output of each compute.
struct Destination {
  uint32_t index;
  uint32_t buffer;  // 0: none, it is only produced
  uint32_t size;
  uint32_t written;  // the address for its size
};

class WantedOutputs {
 public:
  bool all() const { return wanted_.empty(); }
  bool Has(uint32_t index) const {
    return all() || std::ranges::binary_search(wanted_, index, {}, &Destination::index);
  }
  // By index; none: all.
  std::span<const Destination> destinations() const { return wanted_; }
  // As above, for a backend.
  std::span<const uint32_t> indices() const { return indices_; }

  void Add(const Destination& destination) {
    const auto place = std::ranges::lower_bound(wanted_, destination.index, {}, &Destination::index);
    if (place != wanted_.end() && place->index == destination.index) {
      *place = destination;
      return;
    }
    std::vector<Destination> wanted = wanted_;
    wanted.insert(wanted.begin() + (place - wanted_.begin()), destination);
    Set(std::move(wanted));
  }
  // Replaces earlier choices, without destinations.
  void Select(std::span<const uint32_t> given) {
    std::vector<Destination> wanted;
    for (uint32_t index : given) wanted.push_back({index, 0, 0, 0});
    std::ranges::sort(wanted, {}, &Destination::index);
    const auto [end, last] = std::ranges::unique(wanted, {}, &Destination::index);
    wanted.erase(end, last);
    Set(std::move(wanted));
  }

 private:
  // Changes both or none, even without memory.
  void Set(std::vector<Destination> wanted) {
    std::vector<uint32_t> indices;
    indices.reserve(wanted.size());
    for (const Destination& one : wanted) indices.push_back(one.index);
    wanted_ = std::move(wanted);
    indices_ = std::move(indices);
  }

  std::vector<Destination> wanted_;
  std::vector<uint32_t> indices_;
};

// An output that a call wants, in the memory of that call.
struct OnceOutput {
  uint32_t index = 0;
  bool by_name = false;   // instead of the index, because some models know their outputs only after a compute:
  std::string_view name;  // in the host's memory
  std::span<uint8_t> buffer;
  uint64_t size = 0;  // the output's size, even if the buffer is too small; 0: unknown
};

class Context {
 public:
  struct Options {
    std::chrono::milliseconds compute_deadline{0};  // 0: none
    uint64_t max_compute_bytes = 0;                 // as in wasinn_slot_options
    std::string guest_config;                       // a JSON object or ""
    std::chrono::milliseconds open_deadline{0};     // for creating it; 0: none
    const std::atomic<bool>* stop = nullptr;        // becomes true: its creation and its runs end soon
    Printer printer;                                // for pieces of texts
  };
  // For a run inside of another one, such as a step of a pipeline.
  struct Terms {
    std::chrono::milliseconds time_left{0};          // for the backend; 0: by the context's own deadline
    uint64_t max_bytes = 0;                          // as in wasinn_compute_options
    const std::function<void()>* at_turn = nullptr;  // called when nothing more is waited for; throws nothing
  };
  static Result<std::unique_ptr<Context>> Create(std::shared_ptr<const Graph> graph, const Options& options,
                                                 const Resources& resources);
  ~Context() { session_.reset(); }  // before the memory that is bound there
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const std::shared_ptr<const Graph>& graph() const { return graph_; }
  // Sets the terms of later runs.
  void SetTerms(const Terms& terms) {
    terms_ = terms;
    if (terms_.time_left.count() == 0) terms_.time_left = compute_deadline_;
  }

  // ---- Inputs and outputs that stay between calls

  // Copies `bytes` into memory of the context as input `index`.
  Status SetInput(uint32_t index, const TensorDesc& given, std::span<const uint8_t> bytes) {
    const Meter::Timing timing(meter_, Stage::kInput);
    return staged().Set(index, given, bytes);
  }
  // As above, with a tensor of its own. The backend computes on the tensor's own bytes if it can.
  Status SetInput(uint32_t index, TensorPtr tensor) {
    const Meter::Timing timing(meter_, Stage::kInput);
    return staged().Set(index, std::move(tensor));
  }
  // Checks that there is such an input.
  Status CheckInput(uint32_t index) const { return staged().CheckIndex(index); }
  // From now on compute produces only wanted outputs. Their destinations may change with each call.
  Status WantOutput(const Destination& destination);
  // As above without destinations, replacing earlier choices; none: all.
  Status SelectOutputs(std::span<const uint32_t> indices);
  // As Session::Keep.
  void KeepOutputs(std::span<const uint32_t> indices) { session_->Keep(indices); }

  // Outputs with a destination from WantOutput are written to `memory`, which may be NULL. If a destination does not
  // fit, the outputs are available nevertheless.
  Status Compute(const GuestMemory* memory);
  // The second part of it, after an AsyncCompute without memory.
  Status WriteOutputs(const GuestMemory& memory);
  // Whether AsyncCompute can do the same, beginning at once.
  bool CanComputeAsync() const { return session_->can_run_async(); }

  // If a model's outputs are only known after a run: finds one of the last compute.
  Result<uint32_t> FindOutput(std::string_view name) const;
  // Copies output `index` into the beginning of `buffer`. `size` is set to the output's size. If the buffer is too
  // small, nothing is copied and the status is TOO_LARGE.
  Status GetOutput(uint32_t index, std::span<uint8_t> buffer, uint64_t& size);
  // Its element type, for callers whose buffer depends on that.
  Result<uint32_t> OutputDtype(uint32_t index);
  // The output as a tensor, without a copy if the backend gives it away. Repeated calls return the same tensor until
  // the next compute.
  Result<TensorPtr> TakeOutput(uint32_t index);

  // ---- Calls that bring all inputs: no input is set before or after, and no output stays

  // Computes in the memory of the call. `size` of each output is set if it is known, even after TOO_LARGE.
  Status ComputeOnce(std::span<OnceInput> inputs, std::span<OnceOutput> outputs, const GuestMemory& memory);
  struct TensorInput {
    uint32_t index;
    TensorPtr tensor;
  };
  // An output of Run; NULL if it is no tensor of numbers. The name is valid as long as Run's result.
  struct TensorOutput {
    std::string_view name;
    TensorPtr tensor;
  };
  // `outputs` gets one element for each output.
  Result<std::shared_ptr<const void>> Run(std::span<const TensorInput> inputs, std::pmr::vector<TensorOutput>& outputs);
  // The parts of it before and after an AsyncCompute without memory, whose status the second one gets. It is called in
  // any case.
  Status Bring(std::span<const TensorInput> inputs);
  Result<std::shared_ptr<const void>> TakeAll(Status status, std::pmr::vector<TensorOutput>& outputs);

  // ---- Models that generate piece by piece

  // Ends a generation, and sets only these inputs for the next.
  Status Start(std::span<const TensorInput> inputs);
  // Makes the next piece; the first one of a generation comes from the inputs. END_OF_SEQUENCE: the generation is
  // complete. GetOutput returns everything generated so far.
  Status Step();
  // Copies the newest piece of output `index`, as GetOutput does.
  Status GetPiece(uint32_t index, std::span<uint8_t> buffer, uint64_t& size);
  // Ends the current generation, if there is one. Its outputs stay.
  Status Finish();
  // The same without its inputs and outputs.
  void Clear();

  // Totals since the context was created. Any thread may read them.
  struct Counts {
    CopyCount in, out;
    std::atomic<uint64_t> computes{0};
  };
  const Counts& counts() const { return counts_; }

  // From any thread: a current run ends soon, later ones are refused.
  void CancelForGood() { run_.CancelForGood(); }
  // From any thread: a current run ends soon. No other one may begin before RenewRuns.
  void CancelRun() { run_.CancelUntilRenewed(); }
  void RenewRuns() { run_.Renew(); }

 private:
  friend class AsyncCompute;
  Context(std::shared_ptr<const Graph> graph, const Options& options, const Resources& resources);
  Status Open(const Options& options, Resources resources);

  // NOLINTBEGIN(bugprone-unchecked-optional-access): Open has set them
  Inputs& staged() { return *inputs_; }
  const Inputs& staged() const { return *inputs_; }
  // NOLINTEND(bugprone-unchecked-optional-access)

  // A run: everything around Session::Run.
  InferenceRequest Request() const;
  Status Execute(const InferenceRequest& request);
  Status Prepare();
  Status PrepareStep();
  Status RunInTurn(const InferenceRequest& request);
  static Status StillWaits(const Scheduler& scheduler);
  Status EndRun(Status status, bool overdue);
  Status Failed(Status status, bool overdue) const;
  Status Overdue(wasinn_code code, const Status& status) const;
  void Cancel();

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
  Meter meter_;                   // before its graph is freed
  Scheduler& scheduler_;
  const Share& share_;
  Scheduler::Waiter waiter_;  // for its turn
  Watched run_;
  bool is_quick_ = false;  // AsyncCompute's
};

}  // namespace wasinn::core
