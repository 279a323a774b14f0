// One inference in flight: bound inputs, outputs, the framework's request object. One thread at a time has it
// (Guest::Use); a second one gets `busy`.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/copy.h"
#include "core/graph.h"
#include "core/guest_memory.h"
#include "core/quota.h"
#include "core/scheduler.h"
#include "core/shared_tensor.h"
#include "core/tensor.h"

namespace wasinn::core {

// Where a guest wants an output after each compute: addresses in its memory.
struct Destination {
  uint32_t index;
  uint32_t buffer;  // 0: nowhere, it is only to be produced
  uint32_t size;
  uint32_t written;  // where its size goes
};

class Context {
 public:
  struct Options {
    std::chrono::milliseconds compute_deadline{0};  // 0: none
    uint64_t max_compute_bytes = 0;                 // as in wasinn_context_options
    std::string guest_config;                       // a JSON object or ""
    bool inputs_by_reference = false;               // policy.inputs
    std::chrono::milliseconds open_deadline{0};     // for making it; 0: none
    const std::atomic<bool>* stop = nullptr;        // becomes true: its making and its runs end soon
  };
  // What it shares with others; all of it outlives the context.
  struct Resources {
    Quota& tensor_bytes;  // that inputs, outputs and what the backend keeps beside them are charged to
    BufferPool& pool;     // for tensors
    Watchdog& watchdog;
    Scheduler& scheduler;     // of the host's computes
    Scheduler::Share& share;  // of its guest
  };
  static Result<std::unique_ptr<Context>> Create(std::shared_ptr<const Graph> graph, const Options& options,
                                                 const Resources& resources);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Copies `bytes`, which lie in `memory`, into memory of the context as input `index`; or, where the policy says so,
  // leaves them there if the framework can compute on them in place: each compute then reads what is there at its time.
  Status SetInput(uint32_t index, const TensorDesc& given, std::span<const uint8_t> bytes, const GuestMemory& memory);
  // `memory`, which may be NULL, lends the inputs that lie there, and gets the outputs that WantOutput gave a
  // destination. If it cannot take them, they are there nevertheless.
  Status Compute(const GuestMemory* memory);
  // Copies output `index` into the beginning of `buffer`. `size` is set to the output's size, also if the buffer is too
  // small for it: then nothing is copied and the status is TOO_LARGE.
  Status GetOutput(uint32_t index, std::span<uint8_t> buffer, uint64_t& size);
  // The same for callers whose buffer depends on the output's element type.
  using BufferOf = std::function<Result<std::span<uint8_t>>(uint32_t dtype)>;
  Status GetOutput(uint32_t index, const BufferOf& buffer_of, uint64_t& size);

  struct Given {
    uint32_t index;
    TensorPtr tensor;
  };
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
  Status WantOutput(const Destination& destination);
  // The same without destinations, and instead of what was wanted before; none: all.
  Status SelectOutputs(std::span<const uint32_t> indices);
  // Of a model that tells its outputs only by a run: those of the last compute, so only after one.
  Result<uint32_t> FindOutput(std::string_view name);

  // The same with tensors that exist apart from the context. The backend computes on the tensor's own bytes and, where
  // it can, gives its output away, so that nothing is copied.
  Status SetInput(uint32_t index, TensorPtr tensor);
  // More than once gives the same tensor, until the next compute.
  Result<TensorPtr> TakeOutput(uint32_t index);
  // An output of Run; null where it cannot be passed as a tensor of numbers. The name lives as long as what Run
  // returns.
  struct Computed {
    std::string_view name;
    TensorPtr tensor;
  };
  // All of it in one: no input but these is set, before and after. `outputs` gets one for each output.
  Result<std::shared_ptr<const void>> Run(std::span<const Given> inputs, std::pmr::vector<Computed>& outputs);

  const std::shared_ptr<const Graph>& graph() const { return graph_; }

  // What was done since it was made. Any thread may read it.
  struct Counts {
    CopyCount in, out;
    std::atomic<uint64_t> computes{0};
  };
  const Counts& counts() const { return counts_; }

  // From any thread: what runs ends soon, what comes later is refused.
  void CancelForGood();

 private:
  // An input that stays in guest memory until it is computed on.
  struct LentInput {
    TensorDesc tensor;  // as the framework shall see it
    GuestPlace place;
  };
  // Memory of the context for an input. It stays with it as long as inputs of this size are set.
  struct OwnInput {
    BufferPool::Buffer buffer;
    size_t bytes = 0;
    // The backend has it, as a tensor of this type and shape.
    bool bound = false;
    uint32_t dtype = WASINN_DTYPE_UNKNOWN;
    std::vector<int64_t> dims;
    bool looked_at = false;  // each time that it is set, by the core or the backend: text, bools
  };
  // Its bytes lie in one of three places, or nowhere.
  struct Input {
    bool set = false;
    Charge charge;  // of `own` and `lent`
    std::unique_ptr<OwnInput> own;
    TensorPtr bound;  // a tensor that the backend reads in place
    std::unique_ptr<LentInput> lent;
  };
  // A call that the backend's cancel may interrupt, however it ends.
  class InBackend {
   public:
    explicit InBackend(std::atomic<bool>& inside) : inside_(inside) { inside_.store(true, std::memory_order_release); }
    ~InBackend() { inside_.store(false, std::memory_order_release); }
    InBackend(const InBackend&) = delete;
    InBackend& operator=(const InBackend&) = delete;

   private:
    std::atomic<bool>& inside_;
  };
  class LateOutputs;
  class Loan;  // of the memory of lent inputs, for one compute
  struct OwnOutput {
    uint32_t index;
    std::vector<uint8_t> bytes;
  };

  Context(std::shared_ptr<const Graph> graph, const Options& options, const Resources& resources);
  Status Open(const Options& options, Watchdog& watchdog);
  Status ChargeStaticOutputs();
  Status ChargeOutputs();
  // The bytes of an output by its signature; 0 where that does not fix them.
  uint64_t FixedSize(uint32_t index) const { return index < fixed_sizes_.size() ? fixed_sizes_[index] : 0; }
  Status ReadOutputs();
  std::span<const wasinn_io* const> outputs() const;
  Status TellWanted(std::vector<Destination> wanted);
  bool IsWanted(uint32_t index) const;
  Status CheckOutput(uint32_t index) const;
  Status WriteOutputs(const GuestMemory& memory);
  static Status WriteOutput(const Destination& destination, std::span<const uint8_t> bytes, const GuestMemory& memory,
                            CopyCount& count);
  Status Execute();
  Status ComputeInTurn();
  Status ComputeNow();
  static Status StillWaits(const Scheduler& scheduler);
  void Cancel();
  Status CountOutputs();
  Status CheckGenerates() const;
  void EndGeneration() {
    if (generating_) LetGoOfGeneration();
  }
  void LetGoOfGeneration();
  Status Bind(uint32_t index, TensorPtr tensor);
  bool CanLend(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes,
               const GuestMemory& lender) const;
  Status Lend(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes, const GuestMemory& lender);
  void LetGo(uint32_t index);
  void Unbind(uint32_t index);
  void EndLoan(Input& input);
  Result<std::span<const uint8_t>> FindLent(uint32_t index, const GuestMemory* memory) const;
  Status BorrowInput(uint32_t index, const GuestMemory* memory);
  Status ExecuteOnLoan(const GuestMemory* memory);
  Status KeepOutputsFrom(const GuestMemory& lender);
  Status CopyLent(const GuestMemory* memory);
  void UnsetInputs();
  bool CanTake(uint32_t index, const wasinn_tensor& view) const;
  bool LiesInInput(const wasinn_tensor& view) const;
  Result<TensorPtr> Take(uint32_t index);
  void DiscardOutputs();
  Status CheckInputsSet() const;
  bool IsJustACopy(uint32_t index, const TensorDesc& given, size_t bytes) const;
  Status Fill(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes);
  Status CopyIn(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes);
  void MakeOwn(Input& input, uint32_t index, size_t bytes);
  Status BindOwn(uint32_t index, const TensorDesc& tensor);
  Status View(uint32_t index, wasinn_tensor& view) const;
  // The view of the last compute, if it was kept; else NULL.
  const wasinn_tensor* Seen(uint32_t index) const {
    return computed_ && index < views_.size() && views_[index].struct_size != 0 ? &views_[index] : nullptr;
  }
  Status Failed(Status status, bool overdue) const;
  const wasinn_backend& table() const { return graph_->backend().table(); }

  const std::shared_ptr<const Graph> graph_;
  const std::chrono::milliseconds compute_deadline_;
  const bool inputs_by_reference_;
  Quota& tensor_bytes_;
  BufferPool& pool_;
  wasinn_backend_context* context_ = nullptr;
  std::vector<Input> inputs_;
  uint32_t n_lent_ = 0;                // of inputs_
  std::vector<wasinn_tensor> views_;   // of outputs of a fixed size, seen when they were charged; struct_size 0: none
  std::vector<uint64_t> fixed_sizes_;  // of outputs, by index
  Charge static_outputs_, dynamic_outputs_;  // what signatures say, and what is held beyond
  std::vector<Destination> wanted_;          // by index; none: all
  std::shared_ptr<const LateOutputs> late_;  // where the graph does not know its outputs
  std::vector<TensorPtr> taken_;             // outputs of the last compute that were given away
  std::vector<OwnOutput> own_outputs_;       // those that the framework left in lent inputs
  bool views_known_ = false;                 // each of views_ is as the last compute left it
  bool has_dynamic_outputs_ = false;
  bool outgrown_ = false;    // an output was larger than its signature said
  bool computed_ = false;    // the outputs of a successful compute are there
  bool generating_ = false;  // a generation is under way
  bool has_piece_ = false;   // its last step made one
  bool generated_ = false;   // the outputs are those of a generation, under way or ended
  Counts counts_;
  Scheduler& scheduler_;
  Scheduler::Share& share_;
  Scheduler::Waiter waiter_;             // for its turn
  std::atomic<bool> in_backend_{false};  // it has it
  Watched run_;
};

}  // namespace wasinn::core
