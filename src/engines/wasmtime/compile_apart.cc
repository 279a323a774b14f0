#include "engines/wasmtime/compile_apart.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "engines/own_folder.h"
#include "engines/wasmtime/compiler_order.h"

namespace wasinn::wasmtime {
namespace {

using engines::CompileLimits;
using engines::OpenFile;
using engines::Result;
using Clock = std::chrono::steady_clock;

constexpr char kThisProgram[] = "/proc/self/exe";

std::unexpected<std::string> Failed(const char* what, int error) {
  return std::unexpected(fmt::format("{}: {}", what, std::strerror(error)));
}

// A child that compiles. It ends with this object at the latest.
class CompilerProcess {
 public:
  explicit CompilerProcess(pid_t pid) : pid_(pid) {}
  CompilerProcess(const CompilerProcess&) = delete;
  CompilerProcess& operator=(const CompilerProcess&) = delete;
  ~CompilerProcess() {
    if (pid_ > 0) kill(pid_, SIGKILL);
    Wait();
  }

  // Waits for its end. Returns the status of waitpid; 0 if this program cannot wait for children.
  int Wait() {
    int status = 0;
    while (pid_ > 0 && waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return status;
  }

 private:
  pid_t pid_;
};

// In a group of its own: a terminal's signals are for this process, with which the child ends.
int Spawn(const CompilerOrder& order, int socket, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none{}, all{};
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::array<std::string, CompilerOrder::kWords> words = order.ToWords();
  std::array<char*, CompilerOrder::kWords + 2> arguments = {const_cast<char*>(kCompilerName)};
  std::ranges::transform(words, arguments.begin() + 1, [](std::string& word) { return word.data(); });
  const int error = posix_spawn(&pid, kThisProgram, &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// The limit of an answer, which is kept in memory. Code has up to four times the bytes of its program, and data as
// many. A larger one is made on purpose, for example by data far apart, of which Wasmtime makes an image.
uint64_t MaxAnswer(const CompileLimits& limits, size_t program) {
  constexpr uint64_t kAlways = uint64_t{64} << 20, kTimes = 6, kPartOfMemory = 8;
  if (limits.max_bytes == 0) return UINT64_MAX;
  return std::min(kAlways + kTimes * program, std::max(limits.max_bytes / kPartOfMemory, kAlways + program));
}

// The messages over the socket: sends the program, and receives the answer at the same time.
class Conversation {
 public:
  enum class End { kSaidAll, kTooLong, kTooLate };

  Conversation(int socket, std::string_view program, const CompileLimits& limits)
      : socket_(socket), rest_(program), most_(MaxAnswer(limits, program.size())) {
    if (limits.timeout_ms != 0) end_ = Clock::now() + std::chrono::milliseconds(limits.timeout_ms);
  }

  End Hold() {
    for (;;) {
      pollfd ready = {
          .fd = socket_, .events = static_cast<short>(POLLIN | (rest_.empty() ? 0 : POLLOUT)), .revents = 0};
      const int count = poll(&ready, 1, Milliseconds());
      if (count == 0) return End::kTooLate;
      if (count < 0 && errno != EINTR) return End::kSaidAll;
      if ((ready.revents & POLLOUT) != 0) Send();
      if ((ready.revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !Receive()) return End::kSaidAll;
      if (IsTooLong()) return End::kTooLong;
    }
  }

  // The result, if the answer is complete; ends this.
  std::optional<Result<std::string>> Answer() {
    if (got_of_head_ < sizeof head_ || answer_.size() != head_.bytes) return std::nullopt;
    if (head_.is_well != 0) return std::move(answer_);
    return std::unexpected(std::move(answer_));
  }

 private:
  int Milliseconds() const {
    if (!end_) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*end_ - Clock::now()).count();
    return static_cast<int>(std::clamp<int64_t>(left, 0, INT32_MAX));
  }

  bool IsTooLong() const {
    return got_of_head_ == sizeof head_ && std::max<uint64_t>(head_.bytes, answer_.size()) > most_;
  }

  void Send() {
    const ssize_t sent = send(socket_, rest_.data(), rest_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) return;
    rest_.remove_prefix(sent < 0 ? rest_.size() : static_cast<size_t>(sent));  // it reads no more
    if (rest_.empty()) shutdown(socket_, SHUT_WR);
  }

  // False: the end.
  bool Receive() {
    std::array<char, 16384> part;
    const size_t left_of_head = sizeof head_ - got_of_head_;
    const ssize_t got = recv(socket_, part.data(), left_of_head > 0 ? left_of_head : part.size(), MSG_DONTWAIT);
    if (got <= 0) return got < 0 && (errno == EINTR || errno == EAGAIN);
    const auto size = static_cast<size_t>(got);
    if (left_of_head > 0) {
      std::memcpy(reinterpret_cast<char*>(&head_) + got_of_head_, part.data(), size);
      got_of_head_ += size;
    } else {
      answer_.append(part.data(), size);
    }
    return true;
  }

  const int socket_;
  std::string_view rest_;
  const uint64_t most_;
  std::optional<Clock::time_point> end_;
  AnswerHead head_;
  size_t got_of_head_ = 0;
  std::string answer_;
};

// For a process that ended without an answer. Wasmtime aborts if it gets no more memory.
std::string NoAnswer(const CompileLimits& limits, int status) {
  const int code = WIFSIGNALED(status) ? 0 : WEXITSTATUS(status), signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGKILL) {
    return "the process that compiled it was killed: most likely the machine, or the container, has no more memory";
  }
  const std::string how =
      signal == 0 ? fmt::format("exit code {}", code) : fmt::format("signal {}, {}", signal, strsignal(signal));
  if (limits.max_bytes == 0 || (signal == 0 && code != kNoMemory)) {
    return fmt::format("the process that compiled it ended early ({})", how);
  }
  return fmt::format(
      "compiling it took more than {} MiB of memory, most likely ({}): see --max-compile-memory "
      "(engine.max_compile_bytes)",
      std::max<uint64_t>(limits.max_bytes >> 20, 1), how);
}

std::string TooLate(const CompileLimits& limits) {
  const uint32_t ms = limits.timeout_ms;
  const std::string time = ms % 1000 == 0 ? fmt::format("{} s", ms / 1000) : fmt::format("{} ms", ms);
  return "compiling it took longer than " + time + ": see --compile-timeout (engine.compile_timeout_ms)";
}

// `bytes`: a program, or its text.
Result<std::string> Ask(CompilerOrder order, const CompileLimits& limits, std::string_view bytes) {
  std::array<int, 2> ends = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Failed("no socket for the process that compiles", errno);
  }
  OpenFile ours(ends[0]), its(ends[1]);
  order.parent = getpid();
  order.max_bytes = limits.max_bytes;
  pid_t pid = 0;
  if (const int error = Spawn(order, its.get(), pid); error != 0) {
    return Failed(
        "cannot start the process that compiles (there is none with --compile-timeout 0 and --max-compile-memory 0)",
        error);
  }
  CompilerProcess process(pid);
  its = OpenFile(-1);
  Conversation conversation(ours.get(), bytes, limits);
  switch (conversation.Hold()) {
    case Conversation::End::kTooLate:
      return std::unexpected(TooLate(limits));
    case Conversation::End::kTooLong:
      return std::unexpected(
          fmt::format("a program of {} bytes becomes more than {} MiB of code, unlike any compiler's program",
                      bytes.size(), MaxAnswer(limits, bytes.size()) >> 20));
    case Conversation::End::kSaidAll:
      break;
  }
  if (auto answer = conversation.Answer()) return std::move(*answer);
  ours = OpenFile(-1);  // it may have more to send
  return std::unexpected(NoAnswer(limits, process.Wait()));
}

}  // namespace

Result<std::string> CompileApart(const engines::EngineOptions& options, ProgramKind kind, const std::string& wasm) {
  return Ask({.task = TaskOf(kind), .options = options}, options.compile, wasm);
}

Result<std::string> ParseApart(const CompileLimits& limits, const std::string& text) {
  return Ask({.task = CompilerTask::kText}, limits, text);
}

}  // namespace wasinn::wasmtime
