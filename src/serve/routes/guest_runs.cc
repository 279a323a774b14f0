#include "serve/routes/guest_runs.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include "cli/host_flags.h"
#include "cli/log.h"
#include "serve/log.h"
#include "settings/text.h"

namespace wasinn::serve {

namespace {

constexpr uint32_t kTimeoutMs = 30'000;
constexpr uint64_t kMemory = 256u << 20;
constexpr uint64_t kTableElements = 250'000;  // of each table, if the limit of memory allows it

}  // namespace

engines::EngineOptions GuestCode::ForEngine() const {
  return {.cache = cache,
          .guest_folders = folders,
          .allow_precompiled = allow_precompiled || settings.allow_precompiled,
          .pool = cli::PoolOf(settings),
          .compile = cli::CompileLimitsOf(settings),
          .interruptible = true,
          .metered = metered,
          .served = true,
          .warn = [](const std::string& what) { Log(WASINN_LOG_WARNING, "{}", what); },
          .compiling = cli::LogCompiling};
}

RunLimits GuestRuns::LimitsFor(const GuestSettings& settings) {
  RunLimits limits{settings.limits(), settings.engine_limits()};
  if (limits.guest.run_timeout_ms == 0) limits.guest.run_timeout_ms = kTimeoutMs;
  constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();
  if (limits.guest.max_memory_bytes == kUnlimited) limits.guest.max_memory_bytes = kMemory;
  if (limits.program.max_table_elements == kUnlimited) limits.program.max_table_elements = kTableElements;
  return limits;
}

namespace {

Guest NewGuest(const Host& host, const GuestCall& call) {
  GuestOptions options;
  options.name = call.name;
  options.limits = call.limits.guest;
  options.policy = call.policy;
  options.on_behalf_of = call.on_behalf_of;
  Result<Guest> guest = Guest::Create(host, options);
  if (!guest) throw ToFailure(guest.status());
  return std::move(*guest);
}

}  // namespace

GuestRuns::Held::Held(GuestRuns& runs, const GuestCall& call)
    : runs_(runs), n_memories_(call.memories), guest_(NewGuest(runs.host_, call)) {
  const std::lock_guard lock(runs_.mutex_);
  runs_.running_.insert(&guest_);
  runs_.n_memories_ += n_memories_;
  if (runs_.is_stopped_) guest_.Stop();
}

GuestRuns::Held::~Held() {
  const std::lock_guard lock(runs_.mutex_);
  runs_.running_.erase(&guest_);
  runs_.n_memories_ -= n_memories_;
}

engines::RunOptions GuestRuns::Held::Complete(const GuestCall& call, engines::RunOptions options,
                                              engines::Streams streams) const {
  streams.error = said_;
  if (streams.output == nullptr) streams.output = said_;
  options.streams = std::move(streams);
  options.guest = guest_.get();
  options.args = {call.program};
  options.max_memory_bytes = call.limits.guest.max_memory_bytes;
  options.max_table_elements = call.limits.program.max_table_elements;
  options.max_fuel = call.limits.program.max_fuel;
  return options;
}

void GuestRuns::Held::Report(const GuestCall& call, const engines::Exit& exit) {
  for (const std::string& line : said_->Take()) runs_.log_.Write(WASINN_LOG_INFO, call.name, line);
  if (exit.kind == engines::Exit::Kind::kExited) return;
  // A backtrace may follow.
  runs_.log_.Write(WASINN_LOG_WARNING, call.name, exit.message.substr(0, exit.message.find('\n')));
}

engines::Exit GuestRuns::Run(const GuestCall& call, engines::RunOptions options, engines::Streams streams,
                             const Program& run) {
  Held held(*this, call);
  options = held.Complete(call, std::move(options), std::move(streams));
  engines::Exit exit = [&] {
    const Cancellation::Stop stop(call.cancellation, [&held] { held.guest().Stop(); });
    return run(options);
  }();
  held.Report(call, exit);
  return exit;
}

void GuestRuns::Stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  for (Guest* const guest : running_) guest->Stop();
}

namespace {

constexpr size_t kMaxLine = 1024, kMaxLines = 16;  // of one run
constexpr size_t kMaxPerSecond = 100;

}  // namespace

bool KeptOutput::Write(std::string_view bytes) noexcept {
  const std::lock_guard lock(mutex_);
  if (is_taken_ || taken_.state != State::kWhole) return false;
  if (bytes.size() > most_ - taken_.text.size()) return Refuse(State::kTooLarge);
  try {
    if (!charge_.Add(2 * bytes.size())) return Refuse(State::kNoMemory);  // a growing text has room for more
    taken_.text += bytes;
    return true;
  } catch (const std::exception&) {
    return Refuse(State::kNoMemory);
  }
}

KeptOutput::Taken KeptOutput::Take() {
  const std::lock_guard lock(mutex_);
  is_taken_ = true;
  charge_.ShrinkTo(taken_.text.capacity());
  taken_.charge = std::move(charge_);
  return std::move(taken_);
}

bool FirstLines::Write(std::string_view bytes) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    while (!is_full_ && !bytes.empty()) {
      const size_t end = bytes.find('\n');
      last_ += bytes.substr(0, std::min(end, kMaxLine - last_.size()));
      if (end == bytes.npos) break;
      lines_.push_back(std::exchange(last_, {}));
      is_full_ = lines_.size() == kMaxLines;
      bytes.remove_prefix(end + 1);
    }
  } catch (const std::exception&) {
    is_full_ = true;
  }
  return true;
}

std::vector<std::string> FirstLines::Take() {
  const std::lock_guard lock(mutex_);
  if (!last_.empty() && !is_full_) lines_.push_back(last_);
  last_.clear();
  is_full_ = false;
  return std::exchange(lines_, {});
}

void GuestLog::Write(wasinn_log_level level, const std::string& guest, const std::string& line) {
  size_t left_out = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (now - second_ >= std::chrono::seconds(1)) {
      second_ = now;
      n_written_ = 0;
      left_out = std::exchange(n_left_out_, 0);
    }
    if (n_written_ == kMaxPerSecond) {
      ++n_left_out_;
      return;
    }
    ++n_written_;
  }
  if (left_out > 0) Log(WASINN_LOG_WARNING, "{} lines about guests were left out", left_out);
  Log(level, "guest '{}': {}", guest, settings::Printable(line));
}

}  // namespace wasinn::serve
