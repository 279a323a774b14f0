// One guest program: its handles, quotas and running calls.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/host/handle_table.h"
#include "core/host/host.h"
#include "core/inference/async_compute.h"
#include "core/inference/context.h"
#include "core/runtime/large_stacks.h"
#include "core/runtime/started_in.h"
#include "core/runtime/watchdog.h"

namespace wasinn::core {

class Guest {
  struct GuestContext;

 public:
  // `share`: another guest's, with which this one counts as one; NULL: its own.
  Guest(std::shared_ptr<Host> host, std::string name, const wasinn_limits& limits, Policy policy, Printer printer = {},
        std::shared_ptr<const Share> share = nullptr);
  ~Guest() { Close(); }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  // The presence of one call of the guest inside of the library. Its creator needs one to call any function below. A
  // refused call never counts as inside: else a guest that goes on calling would never end.
  class Call {
   public:
    explicit Call(Guest& guest) : Call(guest, kACall) {}
    // The last call to leave a closed guest wakes the thread that closes it.
    ~Call() {
      if (!open_) return;
      const uint64_t inside = guest_.inside_.fetch_sub(counts_, std::memory_order_acq_rel);
      if ((inside & ~kEndWaits) == kClosed + counts_) guest_.inside_.notify_all();
    }
    Call(Call&& other) noexcept
        : guest_(other.guest_), counts_(other.counts_), open_(std::exchange(other.open_, false)) {}
    Call& operator=(Call&&) = delete;
    // False: the guest is closed, and no function may be called.
    explicit operator bool() const { return open_; }

   private:
    friend Guest;
    Call(Guest& guest, uint64_t counts) : guest_(guest), counts_(counts) {
      uint64_t inside = guest.inside_.load(std::memory_order_relaxed);
      do {
        open_ = (inside & kClosed) == 0;
      } while (open_ && !guest.inside_.compare_exchange_weak(inside, inside + counts, std::memory_order_acq_rel,
                                                             std::memory_order_relaxed));
    }

    Guest& guest_;
    const uint64_t counts_;
    bool open_;
  };

  // A context that a call has for itself, from here on. An error if the handle has no context, BUSY if another thread
  // has it. If it is dropped in the meantime, it is destroyed at the end of the call. Close waits for that end: unless
  // it is an error or the guest is closing, it is a presence of the call, too.
  class Use {
   public:
    Use(Guest& guest, uint32_t context) : guest_(guest), context_(context), use_(guest.contexts_, context) {}
    explicit operator bool() const { return static_cast<bool>(use_); }
    Status TakeError() const;
    Context* operator->() const { return &**this; }
    inline Context& operator*() const;
    // It lasts longer than the call.
    void Keep() { use_.Keep(); }

   private:
    Guest& guest_;
    const uint32_t context_;
    HandleTable<GuestContext>::Use use_;
  };

  // Checks the name of a format: INVALID_ENCODING if no backend knows it.
  Status CheckFormat(std::string_view word) const;
  // Loads a model from bytes in guest memory. `encoding`: a format's name; with "" or "autodetect" the bytes determine
  // it. Returns a handle, like the next two.
  Result<uint32_t> Load(std::span<const std::span<const uint8_t>> parts, std::string_view encoding,
                        wasinn_target target);
  // `config`: a JSON object of keys that the backend lets a guest set, or "". With such keys, the model is compiled
  // only for this guest, and counts as one that it loaded.
  Result<uint32_t> LoadByName(std::string_view name, const std::string& config = {});
  Result<uint32_t> InitContext(uint32_t graph);
  // Runs `call` on a context. If the handle is a graph's, on a new context, which is destroyed at the end.
  Status UseOnce(uint32_t context_or_graph, const std::function<Status(Context&)>& call);
  struct NamedTensor {
    std::string_view name;
    TensorPtr tensor;
  };
  Status Start(uint32_t context, std::span<const NamedTensor> inputs);
  // Tensors as objects of a guest, for components. A tensor that is given to a context stays the guest's until it is
  // dropped.
  Result<uint32_t> NewTensor(const TensorDesc& desc, std::span<const uint8_t> bytes);
  Result<TensorPtr> GetTensor(uint32_t tensor) const { return tensors_.Get(tensor); }
  Status DropTensor(uint32_t tensor);
  // The handle becomes invalid. The tensor counts as held until EndTensors.
  Result<TensorPtr> TakeTensor(uint32_t tensor) { return tensors_.Remove(tensor); }
  void EndTensors(size_t count) { tensor_count_.GiveBack(count); }
  // A handle of a tensor that the guest did not make, such as an output.
  Result<uint32_t> Hold(TensorPtr tensor) { return Hold(std::move(tensor), Reservation(tensor_count_)); }
  // Makes an output the input of another context or of the same one. Both share it until either gets another tensor.
  Status SetInputFromOutput(uint32_t context, uint32_t input, uint32_t from, uint32_t output);
  // As Context::Run. `outputs` gets one for each output that can be passed; the names live as long as the result.
  struct Output {
    std::string_view name;
    uint32_t tensor;
  };
  Result<std::shared_ptr<const void>> Run(uint32_t context, std::span<const NamedTensor> inputs,
                                          std::pmr::vector<Output>& outputs);
  // Drops those outputs unless their guest was notified of them: no other code could drop them.
  class UnreportedOutputs {
   public:
    UnreportedOutputs(Guest& guest, std::pmr::vector<Output>& outputs) : guest_(guest), outputs_(outputs) {}
    ~UnreportedOutputs() {
      if (is_reported_) return;
      for (const Output& output : outputs_) (void)guest_.DropTensor(output.tensor);
      outputs_.clear();
    }
    UnreportedOutputs(const UnreportedOutputs&) = delete;
    UnreportedOutputs& operator=(const UnreportedOutputs&) = delete;
    void SetReported() { is_reported_ = true; }

   private:
    Guest& guest_;
    std::pmr::vector<Output>& outputs_;
    bool is_reported_ = false;
  };

  // Counts the bytes of a tensor that an engine copies into guest memory itself.
  void CountCopyOut(size_t bytes);

  // An error as an object of a guest.
  struct GuestError {
    Reservation count;
    uint32_t number;   // in the guest's ABI
    wasinn_code code;  // the code behind the number; WASINN_OK: the guest made the error
    std::string message;
    Reservation bytes;  // for a long message
  };
  // A message longer than wasinn's own counts as bytes of tensors.
  Result<uint32_t> NewError(uint32_t number, wasinn_code code, std::string message);
  Result<std::shared_ptr<GuestError>> GetError(uint32_t error) const { return errors_held_.Get(error); }
  Status DropError(uint32_t error);

  // The handle becomes invalid. A graph lives on in its contexts; a context that computes is cancelled.
  Status DropGraph(uint32_t graph);
  Status DropContext(uint32_t context);

  // Runs a call that may take long under a presence. The call throws nothing.
  struct Caller {
    bool may_block, large_stack;  // its properties
    size_t stack_left;
    bool (*ended)(void* user);  // may be NULL; true: the engine has ended this guest, so it ends here, too
    void* user;
  };
  Status Run(const Caller& caller, const std::function<void()>& call);
  // During its life `ended` is called again and again.
  class Asking {
   public:
    // `ended`, `user`: as in Caller.
    Asking(Guest& guest, bool (*ended)(void* user), void* user);
    Status Begin();

   private:
    Guest& guest_;
    bool (*const ended_)(void* user);
    void* const user_;
    Watched watched_;
    std::optional<Watched::Run> run_;
  };

  // Runs `job` on a thread of the host, guests in turn. `job` throws nothing and holds a presence. If the guest is
  // stopped before, `job` runs at once.
  Status Begin(Executor::Job job);
  // Makes a compute of a context in use, to be begun and ended by such a job. `memory` outlives it.
  std::unique_ptr<AsyncCompute> MakeCompute(Context& context, const GuestMemory& memory, AsyncCompute::Ended ended) {
    return std::make_unique<AsyncCompute>(context, &memory, host_->executor(), begun_, std::move(ended));
  }

  // ---- Computes that go on between the guest's calls (guest_task.cc)

  // Work that goes on while the guest's program does (guest_task.h).
  class Task;
  struct TaskFreer {
    void operator()(Task* task) const noexcept;
  };
  using TaskOwner = std::unique_ptr<Task, TaskFreer>;
  // The context is in use until PollCompute has returned the end of the compute.
  Status BeginCompute(uint32_t context);
  // After its end: its status, once, and its outputs are in their places. BUSY: it goes on.
  Status PollCompute(uint32_t context, const GuestMemory& memory);
  // It ends soon.
  Status CancelCompute(uint32_t context);
  // A wait until one of several such computes has ended. One thread at a time waits for each.
  class ComputeWait {
   public:
    static constexpr uint32_t kForEver = UINT32_MAX;
    // `then`, if given, is called instead of Await, once, on a thread of the host.
    ComputeWait(Guest& guest, std::vector<uint32_t> contexts, uint32_t most_ms, Executor::Job then = nullptr);
    ~ComputeWait();
    ComputeWait(const ComputeWait&) = delete;
    ComputeWait& operator=(const ComputeWait&) = delete;
    // `then` may have destroyed this when it returns. After an error nothing has begun.
    Status Begin();
    void Await() const { is_over_.wait(false, std::memory_order_acquire); }
    // The index of the first one that has ended. BUSY: none has.
    Result<uint32_t> End() const;

   private:
    friend Guest;
    // All under begun_mutex_. `ends` becomes true if one of the computes has ended.
    Status Join(bool& ends);
    void Leave() noexcept;
    void SetOver() noexcept;

    Guest& guest_;
    const std::vector<uint32_t> contexts_;
    const uint32_t most_ms_;
    const bool has_then_;
    Executor::End then_;
    std::atomic<bool> is_over_{false};
    Watched watched_;
    std::optional<Watched::Run> run_;
  };

  // Begins the run of the guest's program. When the deadline has passed or the guest is stopped, `interrupt` is called
  // until the run ends.
  Status BeginRun(void (*interrupt)(void* user), void* user);
  // True if the deadline had passed. Does nothing if no run has begun.
  bool EndRun() noexcept;

  // Refuses new calls, cancels running ones, interrupts the run. Does not block.
  void Stop() noexcept;
  // As Stop; then waits until no call is inside, and frees everything. May be called again.
  void Close() noexcept;
  // Closes the guest, and keeps only what refuses calls.
  void Retire() noexcept;
  // Counts an error of a call, writes it to the log up to the limit of messages, and keeps it as the last error,
  // without the host's paths.
  void Report(std::string_view function, const Status& status);
  // The last error of any thread of the guest: "load: invalid_encoding: onnx: …"; "" if there was none.
  std::string LastError() const;
  Result<std::string> Describe(uint32_t graph) const;

  const wasinn_limits& limits() const { return limits_; }
  const Host* host() const { return host_.get(); }  // a call must be inside
  const std::shared_ptr<const Share>& share() const { return share_; }
  wasinn_dialect dialect() const { return policy_.dialect; }
  bool is_closing() const { return closing_.load(std::memory_order_acquire); }
  wasinn_statistics Statistics() const;

 private:
  // The charges of a guest for one graph.
  struct GraphCharges {
    explicit GraphCharges(const Guest& guest)
        : count_of(guest.graph_count_), bytes_of(guest.model_bytes_), count(*count_of), bytes(*bytes_of) {}
    const std::shared_ptr<Quota> count_of, bytes_of;
    Reservation count, bytes;
    std::shared_ptr<const Graph> graph;  // destroyed before its charges
  };
  using GuestGraph = const Host::Configured;
  // The parts of a load: the first one reads the guest's memory, and the second one may take long.
  struct Loading {
    std::shared_ptr<GraphCharges> charges;
    std::vector<std::shared_ptr<const Blob>> builders;
    std::string encoding;
    wasinn_target target;
  };
  Result<Loading> BeginLoad(std::span<const std::span<const uint8_t>> parts, std::string_view encoding,
                            wasinn_target target);
  Result<uint32_t> EndLoad(Loading loading);
  Result<std::shared_ptr<GraphCharges>> BeginLoadByName(std::string_view name);
  Result<uint32_t> EndLoadByName(std::shared_ptr<GraphCharges> charges, std::string_view name,
                                 const std::string& config);
  Result<uint32_t> AddGraph(std::shared_ptr<GraphCharges> charges, Host::Configured model);
  struct GuestContext {
    GuestContext(Guest& its_guest, std::shared_ptr<GuestGraph> its_graph);
    ~GuestContext();
    GuestContext(const GuestContext&) = delete;
    GuestContext& operator=(const GuestContext&) = delete;

    Guest& guest;
    const std::shared_ptr<GuestGraph> graph;
    Reservation count;
    std::unique_ptr<Context> context;
    bool gone = false;  // the guest has counted the context's work, up to `counted`; guarded by counting_
    Context::Counts counted;
  };
  void Log(wasinn_code code, std::string_view error);
  Result<std::shared_ptr<GuestContext>> MakeContext(uint32_t graph);
  using BegunComputes = std::map<uint32_t, TaskOwner>;  // by context, until their ends are polled
  Result<Task*> FindCompute(uint32_t context) const;    // under begun_mutex_
  void DropCompute(uint32_t context) noexcept;
  void ClearTasks() noexcept;
  // Counts what a context did since the last time.
  void CountAsGone(GuestContext& held);
  // For a wait for another guest's load.
  WaitOptions wait() const {
    return {&host_->watchdog(), std::chrono::milliseconds(limits_.load_timeout_ms), &closing_};
  }
  // New calls see the guest as closed, and running ones are cancelled.
  void RefuseCalls() noexcept;
  // As RefuseCalls; jobs that have not begun end soon, on another thread.
  void StopCalls() noexcept;
  void EndWaits() noexcept;
  void WaitUntilNoneIsInside() noexcept;
  Result<uint32_t> Hold(TensorPtr tensor, Reservation count);
  Status HoldAll(std::span<Context::TensorOutput> computed, std::pmr::vector<Output>& outputs);
  static Status MoveOutput(Context& from, uint32_t output, Context& to, uint32_t input);
  static Status Resolve(const Graph& graph, std::span<const NamedTensor> inputs,
                        std::pmr::vector<Context::TensorInput>& given);
  Status CopyParts(std::span<const std::span<const uint8_t>> parts, Reservation& bytes,
                   std::vector<std::shared_ptr<const Blob>>& builders);

  GuestTag tag() const { return {number_, name_.c_str()}; }

  std::shared_ptr<Host> host_;  // NULL after Retire
  const std::string name_;
  const uint64_t number_ = host_->metrics().NewGuest();
  const wasinn_limits limits_;
  const Policy policy_;
  const Printer printer_;
  // Quotas, before the members that are charged to them.
  Quota context_count_, tensor_count_, error_count_, tensor_bytes_;
  // Charged by graphs, which may outlive the guest for a moment.
  const std::shared_ptr<Quota> graph_count_, model_bytes_;
  std::shared_ptr<Workers> workers_;  // NULL after Close
  HandleTable<GuestGraph> graphs_{HandleKind::kGraph, "graph"};
  HandleTable<GuestContext> contexts_{HandleKind::kContext, "context"};
  HandleTable<const SharedTensor> tensors_{HandleKind::kTensor, "tensor"};
  HandleTable<GuestError> errors_held_{HandleKind::kError, "error"};

  const std::shared_ptr<const Share> share_;
  const uint64_t pool_user_ = host_->buffers().NewUser();
  LargeStacks::Share stacks_;
  Executor::Share begun_{[this] { EndWaits(); }};

  // Parts of inside_: the number of calls inside; that of computes that go on between calls; two bits. The guest is
  // closed to new calls; the end of a call or compute waits for a thread, and the closing thread runs it.
  static constexpr uint64_t kACall = 1, kACompute = uint64_t{1} << 32, kCalls = kACompute - 1;
  static constexpr uint64_t kClosed = uint64_t{1} << 63, kEndWaits = uint64_t{1} << 62;
  std::atomic<uint64_t> inside_{0};
  StartedIn made_in_;  // the OS process of those calls
  std::mutex clearing_;
  std::atomic<bool> closing_{false};  // ends loads, too
  struct ProgramRun {
    Watched watched;
    Watched::Run run{watched};
  };
  mutable std::mutex begun_mutex_;
  BegunComputes computes_begun_;
  std::list<Task*> tasks_;  // until they are destroyed
  std::mutex run_mutex_;
  std::unique_ptr<ProgramRun> run_;
  // Copies for no context, and the work of contexts that are destroyed. Any thread adds to them.
  std::atomic<uint64_t> copies_in_{0}, copies_out_{0}, bytes_in_{0}, bytes_out_{0}, computes_{0};
  std::atomic<uint64_t> model_bytes_copied_{0}, errors_{0};
  mutable std::mutex counting_;  // a context's work is counted either there or here, exactly once
  mutable std::mutex last_error_mutex_;
  std::string last_error_;
};

inline Context& Guest::Use::operator*() const { return *(*use_).context; }

}  // namespace wasinn::core

// The type that wasinn.h names wasinn_guest.
struct wasinn_guest final : wasinn::core::Guest {
  using Guest::Guest;
  std::atomic<uint32_t> references{1};
};
