#include "serve/metrics/access_log.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "serve/log.h"

namespace wasinn::serve {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Line = nlohmann::ordered_json;

// Lines of this time are written together, so that not every request wakes the writing thread.
constexpr std::chrono::milliseconds kTogether{20};
constexpr size_t kWriteTogether = 64u << 10;
constexpr std::chrono::milliseconds kLookForEnd{50};
constexpr std::chrono::seconds kLast{1};

std::string ToTimestamp(std::chrono::system_clock::time_point time) {
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(time);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(ms);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)),
                     (ms - seconds).count());
}

std::string TextOf(const Line& line) { return line.dump(-1, ' ', true, Line::error_handler_t::replace); }

size_t BytesOf(const AccessRecord& record) {
  size_t bytes = sizeof record;
  for (const std::string* text : {&record.peer, &record.protocol, &record.method, &record.target, &record.user_agent,
                                  &record.about.model, &record.about.tenant}) {
    bytes += text->capacity();
  }
  return bytes;
}

Failure OfSystem(const std::string& what, int error) {
  return {WASINN_ERROR_RUNTIME, what + ": " + std::strerror(error)};
}

}  // namespace

std::string Bounded(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  return std::string(text.substr(0, most)) + "...";
}

std::string ToLine(const AccessRecord& record) {
  Line line = {{"time", ToTimestamp(record.time)},
               {"peer", record.peer},
               {"protocol", record.protocol},
               {"method", Bounded(record.method, kMaxLogged)},
               {"target", Bounded(record.target, kMaxTarget)},
               {"status", record.status ? Line(*record.status) : Line()},
               {"bytes_in", record.bytes_in},
               {"bytes_out", record.bytes_out},
               {"duration_us", record.duration.count()}};
  const auto add = [&line](const char* name, const std::string& value) {
    if (!value.empty()) line[name] = Bounded(value, kMaxLogged);
  };
  if (!record.is_complete) line["complete"] = false;
  if (record.n_messages > 0) line["messages"] = record.n_messages;
  add("model", record.about.model);
  add("tenant", record.about.tenant);
  add("trace_id", record.about.trace.trace_id());
  add("span_id", record.about.trace.span_id());
  add("parent_id", record.about.trace.parent_id());
  add("user_agent", record.user_agent);
  return TextOf(line);
}

// The target of lines: a file, a pipe or a terminal.
class AccessLog::File {
 public:
  File(int descriptor, bool is_owned) : descriptor_(descriptor), is_owned_(is_owned) {
    struct stat about = {};
    is_regular_ = ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
  }
  ~File() {
    if (is_owned_) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // 0, or an error of the system. Waits for a pipe's reader, but not once `is_over`.
  int Write(std::string_view text, const auto& is_over) {
    if (is_within_line_) {
      if (const int error = WriteText("\n", is_over); error != 0) return error;
    }
    return WriteText(text, is_over);
  }

 private:
  int WriteText(std::string_view text, const auto& is_over) {
    while (!text.empty()) {
      pollfd room = {descriptor_, POLLOUT, 0};
      if (!is_regular_ && ::poll(&room, 1, static_cast<int>(kLookForEnd.count())) == 0) {
        if (is_over()) return ETIMEDOUT;
        continue;
      }
      // This many bytes never block if a pipe has room, even if the pipe is set to block for other programs.
      const size_t most = is_regular_ ? text.size() : std::min<size_t>(text.size(), PIPE_BUF);
      const ssize_t n = ::write(descriptor_, text.data(), most);
      if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (n < 0) return errno;
      if (n > 0) is_within_line_ = text[static_cast<size_t>(n) - 1] != '\n';
      text.remove_prefix(static_cast<size_t>(n));
    }
    return 0;
  }

  const int descriptor_;
  const bool is_owned_;
  bool is_regular_ = false;
  bool is_within_line_ = false;  // the last line was written only in part
};

std::shared_ptr<AccessLog::File> AccessLog::OpenFile(const std::string& name) {
  if (name == "-") return std::make_shared<File>(STDOUT_FILENO, false);
  // Without blocking: a named pipe without a reader is an error.
  const int descriptor = ::open(name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0640);
  if (descriptor < 0) throw OfSystem("cannot open the access log '" + name + "'", errno);
  return std::make_shared<File>(descriptor, true);
}

std::shared_ptr<AccessLog> AccessLog::Open(std::string file, size_t most_bytes) {
  auto opened = OpenFile(file);
  std::shared_ptr<AccessLog> log(new AccessLog(std::move(file), most_bytes));
  log->file_ = std::move(opened);
  try {
    log->thread_ = std::jthread([made = log.get()] { made->Write(); });
  } catch (const std::system_error& error) {
    throw Failure{WASINN_ERROR_RUNTIME, std::string("no thread for the access log: ") + error.what()};
  }
  return log;
}

AccessLog::~AccessLog() { Close(); }

void AccessLog::Close() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(ends_, true)) return;
    end_.store((SteadyClock::now() + kLast).time_since_epoch().count(), std::memory_order_relaxed);
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool AccessLog::IsOver() const {
  return SteadyClock::now().time_since_epoch().count() > end_.load(std::memory_order_relaxed);
}

void AccessLog::Add(AccessRecord record) noexcept {
  try {
    const size_t bytes = BytesOf(record);
    bool was_empty = false;
    {
      const std::lock_guard lock(mutex_);
      if (ends_ || n_bytes_ + bytes > most_bytes_) return AddDropped();
      was_empty = waiting_.empty();
      waiting_.push_back(std::move(record));
      n_bytes_ += bytes;
    }
    if (was_empty) wake_.notify_one();
  } catch (const std::exception&) {  // no memory
    AddDropped();
  }
}

void AccessLog::Reopen() {
  auto opened = OpenFile(name_);
  const std::lock_guard lock(mutex_);
  file_ = std::move(opened);
  n_opened_.fetch_add(1, std::memory_order_relaxed);
}

// Runs on the writing thread.
void AccessLog::Write() {
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);  // it is an error here, and must not end the program
  for (bool ends = false; !ends;) {
    std::vector<AccessRecord> records;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
      wake_.wait_for(lock, kTogether, [this] { return ends_; });
      ends = ends_;
      records = std::exchange(waiting_, {});
      n_bytes_ = 0;
    }
    try {
      WriteAll(records);
    } catch (const std::exception& error) {
      LogError(error.what());
    }
  }
}

void AccessLog::WriteAll(const std::vector<AccessRecord>& records) {
  std::shared_ptr<File> file;
  uint64_t opened = 0;  // when this file was opened
  {
    const std::lock_guard lock(mutex_);
    file = file_;
    opened = n_opened_.load(std::memory_order_relaxed);
  }
  const auto is_over = [&, this] { return IsOver() || n_opened_.load(std::memory_order_relaxed) != opened; };
  std::string text;
  size_t n_lines = 0;
  const auto write = [&, this] {
    const int error = file->Write(text, is_over);
    if (error != 0 && !has_failed_) {
      const char* const why = error == ETIMEDOUT ? "its reader takes no lines" : std::strerror(error);
      LogError(fmt::format("cannot write to the access log: {}", why).c_str());
    }
    has_failed_ = error != 0;
    if (error != 0) n_dropped_.fetch_add(n_lines, std::memory_order_relaxed);
    text.clear();
    n_lines = 0;
    return error != ETIMEDOUT;
  };
  for (size_t i = 0; i < records.size(); ++i) {
    text += ToLine(records[i]) + "\n";
    ++n_lines;
    if (text.size() < kWriteTogether && i + 1 < records.size()) continue;
    if (write()) continue;
    n_dropped_.fetch_add(records.size() - i - 1, std::memory_order_relaxed);
    break;
  }
  const uint64_t dropped = n_dropped_.exchange(0, std::memory_order_relaxed);
  if (dropped == 0 || is_over()) return AddDropped(dropped);
  text = TextOf({{"time", ToTimestamp(std::chrono::system_clock::now())}, {"dropped", dropped}}) + "\n";
  n_lines = dropped;
  write();
}

}  // namespace wasinn::serve
