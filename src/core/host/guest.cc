#include "core/host/guest.h"

#include "core/models/graph.h"
#include "core/text.h"

namespace wasinn::core {

Guest::Guest(std::shared_ptr<Host> host, std::string name, const wasinn_limits& limits, Policy policy, Printer printer,
             std::shared_ptr<const Share> share)
    : host_(std::move(host)),
      name_(std::move(name)),
      limits_(limits),
      policy_(std::move(policy)),
      printer_(printer),
      context_count_("contexts", "limits.max_contexts", limits.max_contexts, nullptr,
                     &host_->metrics().refusals.contexts),
      tensor_count_("tensors", "limits.max_tensors", limits.max_tensors, nullptr, &host_->metrics().refusals.tensors),
      error_count_("errors", "limits.max_errors", limits.max_errors, nullptr, &host_->metrics().refusals.errors),
      tensor_bytes_("bytes of tensors", "limits.max_tensor_bytes", limits.max_tensor_bytes, host_->guest_bytes(),
                    &host_->metrics().refusals.tensor_bytes),
      graph_count_(std::make_shared<Quota>("graphs", "limits.max_graphs", limits.max_graphs, nullptr,
                                           &host_->metrics().refusals.graphs)),
      model_bytes_(std::make_shared<Quota>("bytes of models", "limits.max_model_bytes", limits.max_model_bytes,
                                           host_->guest_bytes(), &host_->metrics().refusals.model_bytes)),
      workers_(host_->tenants().Join(policy_.tenant, name_, limits.max_model_bytes, limits.max_tensor_bytes)),
      share_(share != nullptr ? std::move(share)
                              : std::make_shared<const Share>(policy_.weight, number_,
                                                              policy_.tenant.empty() ? nullptr : workers_.get())) {
  made_in_.SetToThisProcess();
  host_->guests().Join(*this);
}

// The watchdog calls back every 10 ms, as if there were something to cancel each time.
static constexpr std::atomic<bool> kAlways{true};

Guest::Asking::Asking(Guest& guest, bool (*ended)(void* user), void* user)
    : guest_(guest),
      ended_(ended),
      user_(user),
      watched_(
          guest.host_->watchdog(), std::chrono::milliseconds(0),
          [this] {
            if (ended_(user_)) guest_.StopCalls();  // destroying it ends its run
          },
          &kAlways) {}

Status Guest::Asking::Begin() {
  if (ended_ == nullptr) return Status();
  RETURN_IF_ERROR(guest_.host_->watchdog().Start());
  run_.emplace(watched_);
  return Status();
}

Status Guest::Run(const Caller& caller, const std::function<void()>& call) {
  Asking asking(*this, caller.may_block ? caller.ended : nullptr, caller.user);
  RETURN_IF_ERROR(asking.Begin());
  if (!caller.large_stack || caller.stack_left >= WASINN_FRAMEWORK_STACK) {
    call();
    return Status();
  }
  return host_->stacks().Run(stacks_, call);
}

Status Guest::Begin(Executor::Job job) {
  Status status = host_->executor().Begin(begun_, std::move(job));
  if (closing_) host_->executor().RunWaiting(begun_);  // the thread that stops the guest may have looked before
  return status;
}

Status Guest::BeginRun(void (*interrupt)(void* user), void* user) {
  const std::chrono::milliseconds deadline(limits_.run_timeout_ms);
  const std::lock_guard lock(run_mutex_);
  if (closing_) return Error(WASINN_ERROR_RUNTIME, "the guest is closed");
  if (run_ != nullptr) return Error(WASINN_ERROR_RUNTIME, "the guest has begun a run already");
  // Without a deadline the watchdog's thread is only needed to stop the guest, and Stop starts it.
  if (deadline.count() > 0) {
    RETURN_IF_ERROR(host_->watchdog().Start());
  }
  const auto end = [this, interrupt, user] {
    StopCalls();
    interrupt(user);
  };
  run_.reset(new ProgramRun{.watched{host_->watchdog(), deadline, end}});
  return Status();
}

bool Guest::EndRun() noexcept {
  std::unique_ptr<ProgramRun> ending;
  {
    const std::lock_guard lock(run_mutex_);
    ending = std::move(run_);
  }
  return ending != nullptr && ending->run.End();
}

void Guest::Stop() noexcept {
  RefuseCalls();
  if (host_ != nullptr) host_->executor().RunWaiting(begun_);
  const std::lock_guard lock(run_mutex_);
  if (run_ == nullptr) return;
  (void)host_->watchdog().Start();  // to interrupt again and again; if it fails, one interrupt must do
  run_->watched.CancelForGood();
}

void Guest::RefuseCalls() noexcept {
  inside_.fetch_or(kClosed, std::memory_order_acq_rel);
  closing_.store(true, std::memory_order_release);
}

// Runs on the watchdog's thread, which serves all deadlines: it calls no function of a backend or an engine. Runs of
// contexts end because `closing_` stops them.
void Guest::StopCalls() noexcept {
  RefuseCalls();
  if (host_ != nullptr) host_->executor().EndWaiting(begun_);
}

// The caller has such an end. It holds a presence until the end has run.
void Guest::EndWaits() noexcept {
  if (!closing_) return;
  inside_.fetch_or(kEndWaits, std::memory_order_acq_rel);
  inside_.notify_all();
}

void Guest::WaitUntilNoneIsInside() noexcept {
  if (made_in_.is_elsewhere()) return;  // calls that were inside at the fork never end: their threads are not here
  for (;;) {
    inside_.fetch_and(~kEndWaits, std::memory_order_acq_rel);
    if (host_ != nullptr) host_->executor().RunEnds(begun_);
    const uint64_t inside = inside_.load(std::memory_order_acquire);
    if (inside == kClosed) return;
    if ((inside & kEndWaits) == 0) inside_.wait(inside, std::memory_order_acquire);
  }
}

void Guest::Close() noexcept {
  Stop();
  WaitUntilNoneIsInside();
  ClearTasks();
  contexts_.Close();
  if (!made_in_.is_elsewhere()) contexts_.WaitUntilUnused();
  (void)EndRun();
  const std::lock_guard lock(clearing_);  // another thread that closes the guest returns when all is freed
  {
    const std::lock_guard counting(counting_);
    contexts_.WithEach([this](GuestContext& held) { CountAsGone(held); });
  }
  // Else each object that is freed would send a request to them.
  if (workers_ != nullptr && policy_.tenant.empty()) workers_->Abandon();
  contexts_.Clear();
  tensor_count_.GiveBack(tensors_.Clear());
  errors_held_.Clear();
  graphs_.Clear();
  workers_.reset();
  if (host_ != nullptr) host_->guests().Leave(*this);
}

void Guest::Retire() noexcept {
  Close();
  host_.reset();
}

Result<std::shared_ptr<Guest::GuestContext>> Guest::MakeContext(uint32_t handle) {
  ASSIGN_OR_RETURN(std::shared_ptr<GuestGraph> graph, graphs_.Get(handle));
  auto held = std::make_shared<GuestContext>(*this, graph);
  RETURN_IF_ERROR(held->count.Resize(1));
  ASSIGN_OR_RETURN(std::unique_ptr<Context> context,
                   Context::Create(graph->graph,
                                   {.compute_deadline = std::chrono::milliseconds(limits_.compute_timeout_ms),
                                    .max_compute_bytes = limits_.max_tensor_bytes,
                                    .guest_config = graph->context_config,
                                    .open_deadline = std::chrono::milliseconds(limits_.load_timeout_ms),
                                    .stop = &closing_,
                                    .printer = printer_},
                                   {.memory = {tensor_bytes_, host_->buffers(), pool_user_},
                                    .watchdog = host_->watchdog(),
                                    .scheduler = host_->scheduler(),
                                    .share = *share_,
                                    .metered = {&host_->metrics(), tag()}}));
  held->context = std::move(context);
  if (!graph->outputs.empty()) {
    RETURN_IF_ERROR(held->context->SelectOutputs(graph->outputs));
  }
  return held;
}

Result<uint32_t> Guest::InitContext(uint32_t graph) {
  ASSIGN_OR_RETURN(auto held, MakeContext(graph));
  return contexts_.Insert(std::move(held));
}

Status Guest::UseOnce(uint32_t handle, const std::function<Status(Context&)>& call) {
  if (!graphs_.IsOfKind(handle)) {
    Use context(*this, handle);
    return context ? call(*context) : context.TakeError();
  }
  auto held = MakeContext(handle);
  return held ? call(*(*held)->context) : std::move(held.error());
}

Guest::GuestContext::GuestContext(Guest& its_guest, std::shared_ptr<GuestGraph> its_graph)
    : guest(its_guest), graph(std::move(its_graph)), count(its_guest.context_count_) {}

Guest::GuestContext::~GuestContext() {
  if (context != nullptr) guest.CountAsGone(*this);
}

Status Guest::Use::TakeError() const {
  if (!use_.is_busy()) return guest_.contexts_.NoSuch(context_);
  if (!use_.is_kept()) return Error(WASINN_ERROR_BUSY, "another thread is using this context");
  const std::lock_guard lock(guest_.begun_mutex_);
  return Error(WASINN_ERROR_BUSY, "{}",
               guest_.computes_begun_.contains(context_)
                   ? "a compute has begun on this context: compute_poll returns its end"
                   : "a compute or a generation goes on in this context");
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): it does not see that a Status moves

Status Guest::DropGraph(uint32_t handle) {
  Result<std::shared_ptr<GuestGraph>> graph = graphs_.Remove(handle);
  return graph ? Status() : std::move(graph.error());
}

Status Guest::DropContext(uint32_t handle) {
  std::shared_ptr<GuestContext> removed;
  {
    const std::lock_guard counting(counting_);
    ASSIGN_OR_RETURN(removed, contexts_.Remove(handle));
    CountAsGone(*removed);
  }
  DropCompute(handle);  // before its end: a wait must not find one that cannot be polled any more
  removed->context->CancelForGood();
  return Status();
}

void Guest::Report(std::string_view function, const Status& status) {
  std::string text = fmt::format("{}: {}: {}{}{}", function, CodeName(status.code()), status.backend(),
                                 status.backend().empty() ? "" : ": ", status.message());
  host_->metrics().errors[static_cast<size_t>(status.code())].fetch_add(1, std::memory_order_relaxed);
  Log(status.code(), text);
  std::string shown = WithoutPaths(text);
  const std::lock_guard lock(last_error_mutex_);
  last_error_ = std::move(shown);
}

std::string Guest::LastError() const {
  const std::lock_guard lock(last_error_mutex_);
  return last_error_;
}

Result<std::string> Guest::Describe(uint32_t handle) const {
  ASSIGN_OR_RETURN(std::shared_ptr<GuestGraph> graph, graphs_.Get(handle));
  return DescribeAsJson(*graph->graph);
}

void Guest::Log(wasinn_code code, std::string_view error) {
  const uint64_t errors = errors_.fetch_add(1, std::memory_order_relaxed);
  const Logger& logger = host_->logger();
  if (!logger.Wants(WASINN_LOG_WARNING)) return;
  std::atomic<uint64_t>& dropped = host_->metrics().log_lines_dropped;
  if (errors >= limits_.max_log_messages) dropped.fetch_add(1, std::memory_order_relaxed);
  if (errors > limits_.max_log_messages || limits_.max_log_messages == 0) return;
  wasinn_log_record record = {.level = WASINN_LOG_WARNING, .guest = number_, .guest_name = name_.c_str()};
  const std::string guest = name_.empty() ? "guest" : fmt::format("guest '{}'", name_);
  if (errors == limits_.max_log_messages) {
    logger.Write(record, fmt::format("{}: further errors are not logged", guest));
    return;
  }
  uint64_t left_out = 0;
  if (LogLimit* lines = host_->guest_lines(); lines != nullptr && !lines->Allow(left_out)) {
    dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (left_out > 0) {
    logger.Write(WASINN_LOG_WARNING, fmt::format("{} errors of guests before this were left out", left_out));
  }
  record.code = code;
  logger.Write(record, fmt::format("{}: {}", guest, error));
}

// A dropped context may go on for a while. What it does after this is counted when it is destroyed.
void Guest::CountAsGone(GuestContext& held) {
  const Context::Counts& counts = held.context->counts();
  const auto add = [](std::atomic<uint64_t>& sum, const std::atomic<uint64_t>& now, std::atomic<uint64_t>& counted) {
    const uint64_t value = now.load(std::memory_order_relaxed);
    const uint64_t before = counted.exchange(value, std::memory_order_relaxed);
    sum.fetch_add(value - before, std::memory_order_relaxed);
  };
  add(copies_in_, counts.in.copies, held.counted.in.copies);
  add(bytes_in_, counts.in.bytes, held.counted.in.bytes);
  add(copies_out_, counts.out.copies, held.counted.out.copies);
  add(bytes_out_, counts.out.bytes, held.counted.out.bytes);
  add(computes_, counts.computes, held.counted.computes);
  held.gone = true;
}

wasinn_statistics Guest::Statistics() const {
  const auto read = [](const auto& value) { return value.load(std::memory_order_relaxed); };
  const std::lock_guard counting(counting_);
  wasinn_statistics stats = {.struct_size = sizeof(wasinn_statistics),
                             .graphs = static_cast<uint32_t>(graph_count_->used()),
                             .contexts = static_cast<uint32_t>(context_count_.used()),
                             .model_bytes = model_bytes_->used(),
                             .tensor_bytes = tensor_bytes_.used(),
                             .copies_in = read(copies_in_),
                             .copies_out = read(copies_out_),
                             .bytes_in = read(bytes_in_),
                             .bytes_out = read(bytes_out_),
                             .model_bytes_copied = read(model_bytes_copied_),
                             .computes = read(computes_),
                             .errors = read(errors_),
                             .tensors = static_cast<uint32_t>(tensor_count_.used()),
                             .error_objects = static_cast<uint32_t>(error_count_.used()),
                             .inside = (read(inside_) & kCalls) != 0 || contexts_.has_use() ? 1u : 0u};
  contexts_.WithEach([&](const GuestContext& held) {
    if (held.gone) return;
    const Context::Counts& counts = held.context->counts();
    stats.copies_in += read(counts.in.copies);
    stats.copies_out += read(counts.out.copies);
    stats.bytes_in += read(counts.in.bytes);
    stats.bytes_out += read(counts.out.bytes);
    stats.computes += read(counts.computes);
  });
  return stats;
}

// ---- All guests of a host

void Guests::Join(const Guest& guest) {
  const std::lock_guard lock(mutex_);
  open_.insert(&guest);
}

void Guests::Leave(const Guest& guest) noexcept {
  const std::lock_guard lock(mutex_);
  if (open_.erase(&guest) != 0) AddWhatItDid(guest.Statistics(), closed_);
}

void Guests::AddWhatItDid(const wasinn_statistics& stats, Sum& sum) {
  sum.copies_in += stats.copies_in;
  sum.copies_out += stats.copies_out;
  sum.bytes_in += stats.bytes_in;
  sum.bytes_out += stats.bytes_out;
  sum.model_bytes_copied += stats.model_bytes_copied;
}

Guests::Sum Guests::Read() const {
  const std::lock_guard lock(mutex_);
  Sum sum = closed_;
  sum.open = open_.size();
  for (const Guest* guest : open_) {
    const wasinn_statistics stats = guest->Statistics();
    AddWhatItDid(stats, sum);
    sum.graphs += stats.graphs;
    sum.contexts += stats.contexts;
    sum.tensors += stats.tensors;
    sum.model_bytes += stats.model_bytes;
    sum.tensor_bytes += stats.tensor_bytes;
  }
  return sum;
}

}  // namespace wasinn::core
