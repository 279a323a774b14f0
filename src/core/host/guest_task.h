// A call that goes on while the guest's program does: a load, a compute, or a generation, one step after the other.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>

#include "core/host/guest.h"

namespace wasinn::core {

// Its owner uses it from one thread at a time, for all but Free in calls of the guest. The guest's closing ends it and
// takes its objects.
class Guest::Task {
 public:
  // Reports the end of work once, on any thread, perhaps before the function that began it returns. It must neither
  // throw nor block.
  struct Done {
    void (*notify)(void* user);
    void* user;
  };
  // kStaged: a compute of the inputs that its context has (Guest::BeginCompute); the context keeps the outputs.
  enum class Kind : uint8_t { kLoad, kCompute, kGeneration, kStaged };
  // If its owner frees it, running work is cancelled, and its result is dropped.
  static TaskOwner New(Guest& guest, Kind kind);
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // A task begins one of these, once. Failures are results, too; a generation's is that of its first Step. They read
  // their arguments before they return.
  void Fail(Status why, Done done);
  void Load(std::span<const std::span<const uint8_t>> parts, std::string_view encoding, wasinn_target target,
            Done done);
  void LoadByName(std::string_view name, Done done);
  // The next two use the context until their end. `held` of the inputs count as held until then.
  // `may_stay`: as AsyncCompute::BeginInTurn.
  void Compute(uint32_t context, std::span<const NamedTensor> inputs, size_t held, bool may_stay, Done done);
  // Each Step begins the making of a piece. The first one reports failures of this.
  void Generate(uint32_t context, std::span<const NamedTensor> inputs, size_t held);
  void Step(Done done);

  Kind kind() const { return kind_; }
  // Before its end, the functions below may not be called.
  bool goes_on() const;
  Result<uint32_t> TakeGraph();
  Result<std::shared_ptr<const void>> TakeOutputs(std::pmr::vector<Output>& outputs);
  // The context of a generation, which has a new piece. END_OF_SEQUENCE: it has none, and the generation is over, as
  // after any other error.
  Result<Context*> Stepped();

 private:
  friend Guest;
  Task(Guest& guest, Kind kind);
  ~Task();
  void Free() noexcept;
  // Takes its objects. Under begun_mutex_; the guest closes.
  void Clear() noexcept;

  struct Deleter {
    void operator()(Task* task) const noexcept { delete task; }
  };
  template <typename Function>
  void Begin(Done done, const Function& begin);
  template <typename Function>
  Status BeginLoad(Function load);
  Status Enter(uint32_t context, std::span<const NamedTensor> inputs,
               Status (Context::*bring)(std::span<const Context::TensorInput>));
  void MakeRun(AsyncCompute::Kind kind);
  void BeginRun(bool may_stay);
  // None: there was no memory, not even for the error.
  void EndRun(std::optional<Status> status) noexcept;
  void End(std::optional<Status> status) noexcept;
  Status TakeStatus();

  Guest& guest_;
  const Kind kind_;
  std::list<Task*>::iterator place_;
  size_t inputs_held_ = 0;
  Done done_{};
  std::optional<Call> presence_;  // while it goes on
  std::optional<Use> use_;
  std::optional<AsyncCompute> run_;
  // The results.
  std::optional<Status> status_ = Status();
  uint32_t graph_ = 0;
  std::shared_ptr<const void> names_;
  std::pmr::vector<Context::TensorOutput> outputs_;
  // Guarded by begun_mutex_.
  bool goes_on_ = false, is_dropped_ = false;
  ComputeWait* wait_ = nullptr;  // for the end of a staged compute
};

}  // namespace wasinn::core
