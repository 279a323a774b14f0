#include "core/host/guest_task.h"

#include <chrono>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/scope_exit.h"

namespace wasinn::core {
namespace {

Status ItIsOver() { return Error(WASINN_ERROR_END_OF_SEQUENCE, "the generation is over"); }

}  // namespace

Guest::TaskOwner Guest::Task::New(Guest& guest, Kind kind) { return TaskOwner(new Task(guest, kind)); }

void Guest::TaskFreer::operator()(Task* task) const noexcept { task->Free(); }

Guest::Task::Task(Guest& guest, Kind kind) : guest_(guest), kind_(kind) {
  const std::lock_guard lock(guest_.begun_mutex_);
  place_ = guest_.tasks_.insert(guest_.tasks_.end(), this);
}

Guest::Task::~Task() {
  guest_.EndTensors(inputs_held_);
  if (use_ && kind_ != Kind::kStaged) (*use_)->Clear();
  if (graph_ != 0) (void)guest_.DropGraph(graph_);
}

void Guest::Task::Free() noexcept {
  const Call presence(guest_, kACompute);
  std::unique_ptr<Task, Deleter> freed;  // destroyed outside of the lock, in the presence
  const std::lock_guard lock(guest_.begun_mutex_);
  if (goes_on_) {
    is_dropped_ = true;
    if (use_) (*use_)->CancelRun();
    return;
  }
  guest_.tasks_.erase(place_);
  freed.reset(this);
  if (!presence) Clear();  // a thread that closes the guest waits for the lock, and for nothing else of this
}

void Guest::Task::Clear() noexcept {
  use_.reset();
  outputs_.clear();
  names_.reset();
  graph_ = 0;
}

// All have ended, except in a forked OS process, where they never do.
void Guest::ClearTasks() noexcept {
  BegunComputes not_polled;  // freed after the lock
  const std::lock_guard lock(begun_mutex_);
  not_polled.swap(computes_begun_);
  for (Task* task : tasks_) {
    if (!task->goes_on_) task->Clear();
  }
}

// ---- Beginnings

template <typename Function>
void Guest::Task::Begin(Done done, const Function& begin) {
  const bool is_open = static_cast<bool>(presence_.emplace(Call(guest_, kACompute)));
  done_ = done;
  {
    const std::lock_guard lock(guest_.begun_mutex_);
    goes_on_ = true;
  }
  std::optional<Status> status = TryGuarded([&]() -> Status {
    if (!is_open) return Error(WASINN_ERROR_RUNTIME, "the guest is closed");
    return begin();
  });
  if (!status || !status->ok()) End(std::move(status));
}

void Guest::Task::Fail(Status why, Done done) {
  if (kind_ == Kind::kGeneration) {
    status_ = std::move(why);
    return;
  }
  Begin(done, [&] { return std::move(why); });
}

// The host's threads for calls do the second part of a load.
template <typename Function>
Status Guest::Task::BeginLoad(Function load) {
  return guest_.Begin([this, load = std::move(load)]() mutable {
    End(TryGuarded([&]() -> Status {
      Function its = std::move(load);  // its objects are freed before the end
      if (guest_.is_closing()) return Error(WASINN_ERROR_RUNTIME, "the guest is closed");
      ASSIGN_OR_RETURN(graph_, its());
      return Status();
    }));
  });
}

void Guest::Task::Load(std::span<const std::span<const uint8_t>> parts, std::string_view encoding, wasinn_target target,
                       Done done) {
  Begin(done, [&]() -> Status {
    RETURN_IF_ERROR(guest_.policy_.CheckLoad(target));
    ASSIGN_OR_RETURN(Loading loading, guest_.BeginLoad(parts, encoding, target));
    return BeginLoad([this, loading = std::move(loading)]() mutable -> Result<uint32_t> {
      RETURN_IF_ERROR(guest_.CheckFormat(loading.encoding));
      return guest_.EndLoad(std::move(loading));
    });
  });
}

void Guest::Task::LoadByName(std::string_view name, Done done) {
  Begin(done, [&]() -> Status {
    ASSIGN_OR_RETURN(std::shared_ptr<GraphCharges> charges, guest_.BeginLoadByName(name));
    return BeginLoad([this, charges = std::move(charges), name = std::string(name)]() mutable {
      return guest_.EndLoadByName(std::move(charges), name, {});
    });
  });
}

Status Guest::Task::Enter(uint32_t context, std::span<const NamedTensor> inputs,
                          Status (Context::*bring)(std::span<const Context::TensorInput>)) {
  Use use(guest_, context);
  if (!use) return use.TakeError();
  use.Keep();
  ScratchMemory scratch;
  std::pmr::vector<Context::TensorInput> given(&scratch.resource);
  RETURN_IF_ERROR(Resolve(*use->graph(), inputs, given));
  Status status = ((*use).*bring)(given);
  if (status.ok()) {
    use_.emplace(std::move(use));
  } else {
    use->Clear();
  }
  return status;
}

void Guest::Task::MakeRun(AsyncCompute::Kind kind) {
  run_.emplace(
      **use_, nullptr, guest_.host_->executor(), guest_.begun_,
      [this](std::optional<Status> status) { EndRun(std::move(status)); }, kind);
}

// It may end before this returns.
void Guest::Task::BeginRun(bool may_stay) {
  const bool at_once = kind_ != Kind::kGeneration && (*use_)->CanComputeAsync();
  at_once ? run_->Begin() : run_->BeginInTurn(guest_.host_->computers(), may_stay);
}

void Guest::Task::Compute(uint32_t context, std::span<const NamedTensor> inputs, size_t held, bool may_stay,
                          Done done) {
  inputs_held_ = held;
  Begin(done, [&]() -> Status {
    RETURN_IF_ERROR(guest_.host_->StartComputers());
    RETURN_IF_ERROR(Enter(context, inputs, &Context::Bring));
    MakeRun(AsyncCompute::Kind::kCompute);
    BeginRun(may_stay);
    return Status();
  });
}

void Guest::Task::Generate(uint32_t context, std::span<const NamedTensor> inputs, size_t held) {
  inputs_held_ = held;
  status_ = TryGuarded([&] { return Enter(context, inputs, &Context::Start); });
}

void Guest::Task::Step(Done done) {
  Begin(done, [&]() -> Status {
    RETURN_IF_ERROR(TakeStatus());  // of its beginning
    if (!use_) return ItIsOver();
    RETURN_IF_ERROR(guest_.host_->StartComputers());
    MakeRun(AsyncCompute::Kind::kStep);
    BeginRun(false);
    return Status();
  });
}

// ---- Ends

void Guest::Task::EndRun(std::optional<Status> status) noexcept {
  if (status && kind_ == Kind::kCompute) {
    status = TryGuarded([&]() -> Status {
      ASSIGN_OR_RETURN(names_, (*use_)->TakeAll(*std::move(status), outputs_));
      return Status();
    });
  }
  run_.reset();
  End(std::move(status));
}

void Guest::Task::End(std::optional<Status> status) noexcept {
  const std::optional<Call> presence = std::move(presence_);  // to the end
  const Done done = done_;
  std::optional<Use> use;
  std::unique_ptr<Task, Deleter> dropped;
  const bool has_failed = !status || !status->ok();
  guest_.EndTensors(std::exchange(inputs_held_, 0));
  {
    const std::lock_guard lock(guest_.begun_mutex_);
    goes_on_ = false;
    if (use_) (*use_)->RenewRuns();
    if (use_ && (kind_ == Kind::kCompute || (kind_ == Kind::kGeneration && has_failed))) {
      use.emplace(*std::move(use_));
      use_.reset();
    }
    status_ = std::move(status);
    if (wait_ != nullptr) wait_->SetOver();
    if (is_dropped_) {
      guest_.tasks_.erase(place_);
      dropped.reset(this);
    }
  }
  if (use && has_failed) (*use)->Clear();
  use.reset();  // before the guest begins another compute with the context
  dropped.reset();
  if (done.notify != nullptr) done.notify(done.user);
}

bool Guest::Task::goes_on() const {
  const std::lock_guard lock(guest_.begun_mutex_);
  return goes_on_;
}

Status Guest::Task::TakeStatus() {
  if (!status_) return Status(WASINN_ERROR_RUNTIME, "the host is out of memory");
  return std::exchange(*status_, Status());
}

Result<uint32_t> Guest::Task::TakeGraph() {
  RETURN_IF_ERROR(TakeStatus());
  return std::exchange(graph_, 0);
}

Result<std::shared_ptr<const void>> Guest::Task::TakeOutputs(std::pmr::vector<Output>& outputs) {
  RETURN_IF_ERROR(TakeStatus());
  RETURN_IF_ERROR(guest_.HoldAll(outputs_, outputs));
  outputs_.clear();
  return std::move(names_);
}

Result<Context*> Guest::Task::Stepped() {
  RETURN_IF_ERROR(TakeStatus());
  if (!use_) return std::unexpected(ItIsOver());
  return &**use_;
}

Status Guest::BeginCompute(uint32_t context) {
  RETURN_IF_ERROR(host_->StartComputers());
  TaskOwner made = Task::New(*this, Task::Kind::kStaged);
  Task& task = *made;
  Use& use = task.use_.emplace(*this, context);
  if (!use) return use.TakeError();
  use.Keep();
  task.MakeRun(AsyncCompute::Kind::kCompute);
  if (!task.presence_.emplace(Call(*this, kACompute))) return Error(WASINN_ERROR_RUNTIME, "the guest is closed");
  {
    const std::lock_guard lock(begun_mutex_);
    computes_begun_.emplace(context, std::move(made));
    task.goes_on_ = true;
  }
  task.BeginRun(false);  // another thread may free it before this returns
  return Status();
}

Result<Guest::Task*> Guest::FindCompute(uint32_t context) const {
  const auto found = computes_begun_.find(context);
  if (found != computes_begun_.end()) return found->second.get();
  if (!contexts_.Get(context)) return std::unexpected(contexts_.NoSuch(context));
  return Fail(WASINN_ERROR_INVALID_ARGUMENT, "no compute has begun on context {:#x}", context);
}

Status Guest::PollCompute(uint32_t context, const GuestMemory& memory) {
  TaskOwner ended;  // its context is this call's until it is freed
  {
    const std::lock_guard lock(begun_mutex_);
    ASSIGN_OR_RETURN(const Task* const task, FindCompute(context));
    if (task->goes_on_) return Error(WASINN_ERROR_BUSY, "the compute goes on");
    ended = std::move(computes_begun_.extract(context).mapped());
  }
  Status status = ended->TakeStatus();
  if (status.ok()) return (*ended->use_)->WriteOutputs(memory);
  if (status.code() != WASINN_ERROR_BUSY) return status;
  return Status(WASINN_ERROR_UNAVAILABLE, std::string(status.message()), std::string(status.backend()));
}

Status Guest::CancelCompute(uint32_t context) {
  const std::lock_guard lock(begun_mutex_);
  ASSIGN_OR_RETURN(const Task* const task, FindCompute(context));
  if (task->goes_on_) (*task->use_)->CancelRun();
  return Status();
}

// Its context is gone: no caller can poll it.
void Guest::DropCompute(uint32_t context) noexcept {
  BegunComputes::node_type dropped;  // freed after the lock
  const std::lock_guard lock(begun_mutex_);
  dropped = computes_begun_.extract(context);
  if (!dropped) return;
  if (ComputeWait* const wait = std::exchange(dropped.mapped()->wait_, nullptr)) wait->SetOver();
}

// ---- Waits

Guest::ComputeWait::ComputeWait(Guest& guest, std::vector<uint32_t> contexts, uint32_t most_ms, Executor::Job then)
    : guest_(guest),
      contexts_(std::move(contexts)),
      most_ms_(most_ms),
      has_then_(then != nullptr),
      then_(guest.begun_, std::move(then)),
      watched_(
          guest.host_->watchdog(), std::chrono::milliseconds(most_ms == kForEver ? 0 : most_ms), [this] { SetOver(); },
          &guest.closing_) {}

Guest::ComputeWait::~ComputeWait() {
  const std::lock_guard lock(guest_.begun_mutex_);
  Leave();
}

Status Guest::ComputeWait::Begin() {
  if (contexts_.empty()) return Error(WASINN_ERROR_INVALID_ARGUMENT, "a wait for no compute would never end");
  RETURN_IF_ERROR(guest_.host_->watchdog().Start());
  // Until this returns, `then` waits for the lock.
  const std::lock_guard lock(guest_.begun_mutex_);
  // Left still under the lock, even if there is no memory: no compute's end may find a wait that has not begun.
  bool stays = false;
  const base::ScopeExit leave([&] {
    if (!stays) Leave();
  });
  bool ends = most_ms_ == 0;
  RETURN_IF_ERROR(Join(ends));
  if (!ends) run_.emplace(watched_);
  stays = true;
  if (ends) SetOver();
  return Status();
}

Status Guest::ComputeWait::Join(bool& ends) {
  for (const uint32_t context : contexts_) {
    ASSIGN_OR_RETURN(Task* const task, guest_.FindCompute(context));
    if (task->wait_ == this) return Error(WASINN_ERROR_INVALID_ARGUMENT, "context {:#x} is given twice", context);
    if (task->wait_ != nullptr)
      return Error(WASINN_ERROR_INVALID_ARGUMENT, "another thread waits for context {:#x}", context);
    task->wait_ = this;
    ends = ends || !task->goes_on_;
  }
  return Status();
}

void Guest::ComputeWait::Leave() noexcept {
  for (const uint32_t context : contexts_) {
    const auto found = guest_.computes_begun_.find(context);
    if (found != guest_.computes_begun_.end() && found->second->wait_ == this) found->second->wait_ = nullptr;
  }
}

void Guest::ComputeWait::SetOver() noexcept {
  if (is_over_.exchange(true, std::memory_order_acq_rel)) return;
  if (has_then_) return guest_.host_->executor().Begin(std::move(then_));
  is_over_.notify_one();
}

Result<uint32_t> Guest::ComputeWait::End() const {
  const std::lock_guard lock(guest_.begun_mutex_);
  for (uint32_t i = 0; i < contexts_.size(); ++i) {
    ASSIGN_OR_RETURN(const Task* const task, guest_.FindCompute(contexts_[i]));
    if (!task->goes_on_) return i;
  }
  if (guest_.is_closing()) return Fail(WASINN_ERROR_TIMEOUT, "the guest was closed");
  return Fail(WASINN_ERROR_BUSY, "no compute has ended after {} ms", most_ms_);
}

}  // namespace wasinn::core
