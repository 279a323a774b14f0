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
    HowItEnded();
  }

  // Waits for its end. "": it was as it should be, or whoever started us takes no part in how children end.
  std::string HowItEnded() {
    int status = 0;
    if (pid_ <= 0) return "";
    while (waitpid(pid_, &status, 0) < 0) {
      if (errno != EINTR) status = 0;
      if (errno != EINTR) break;
    }
    pid_ = 0;
    if (WIFSIGNALED(status)) return fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return WEXITSTATUS(status) == 0 ? "" : fmt::format("exit code {}", WEXITSTATUS(status));
  }

 private:
  pid_t pid_;
};

// In a group of its own: what a terminal sends is for us, and it ends with us.
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

// What is said over the socket: the program, and at the same time what is answered.
class Conversation {
 public:
  Conversation(int socket, std::string_view wasm, const CompileLimits& limits)
      : socket_(socket), rest_(wasm), limits_(limits) {
    if (limits.timeout_ms != 0) end_ = Clock::now() + std::chrono::milliseconds(limits.timeout_ms);
  }

  // Until it says no more. False: there is no more time for it.
  bool Hold() {
    for (;;) {
      pollfd ready = {
          .fd = socket_, .events = static_cast<short>(POLLIN | (rest_.empty() ? 0 : POLLOUT)), .revents = 0};
      const int wait = Milliseconds();
      if (wait == 0) return false;
      if (poll(&ready, 1, wait) < 0 && errno != EINTR) return true;
      if ((ready.revents & POLLOUT) != 0) Send();
      if ((ready.revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !Receive()) return true;
    }
  }

  // Of a whole answer.
  std::optional<Result<std::string>> Answer() const {
    AnswerHead head;
    if (answer_.size() < sizeof head) return std::nullopt;
    std::memcpy(&head, answer_.data(), sizeof head);
    if (answer_.size() - sizeof head != head.bytes) return std::nullopt;
    std::string text = answer_.substr(sizeof head);
    if (head.is_code != 0) return text;
    return std::unexpected(std::move(text));
  }

 private:
  int Milliseconds() const {
    if (!end_) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*end_ - Clock::now()).count();
    return static_cast<int>(std::clamp<int64_t>(left, 0, INT32_MAX));
  }

  void Send() {
    const ssize_t sent = send(socket_, rest_.data(), rest_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) return;
    rest_.remove_prefix(sent < 0 ? rest_.size() : static_cast<size_t>(sent));  // it reads no more
    if (rest_.empty()) shutdown(socket_, SHUT_WR);
  }

  // False: that was all. Code may be as large as the memory that it was made in.
  bool Receive() {
    std::array<char, 65536> part;
    const ssize_t got = recv(socket_, part.data(), part.size(), MSG_DONTWAIT);
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    if (limits_.max_bytes != 0 && answer_.size() > limits_.max_bytes) return false;
    answer_.append(part.data(), static_cast<size_t>(got));
    return got > 0;
  }

  const int socket_;
  std::string_view rest_;
  const CompileLimits& limits_;
  std::optional<Clock::time_point> end_;
  std::string answer_;
};

std::string NoAnswer(const CompileLimits& limits, const std::string& how) {
  const std::string ended = how.empty() ? "" : fmt::format(" ({})", how);
  if (limits.max_bytes == 0) return "the process that compiled it ended early" + ended;
  return fmt::format(
      "the process that compiled it ended early{}; most likely it needs more memory than {} bytes: "
      "--max-compile-memory (engine.max_compile_bytes)",
      ended, limits.max_bytes);
}

}  // namespace

Result<std::string> CompileApart(const engines::EngineOptions& options, ProgramKind kind, const std::string& wasm) {
  std::array<int, 2> ends = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Failed("no socket for the process that compiles", errno);
  }
  const OpenFile ours(ends[0]);
  OpenFile its(ends[1]);
  pid_t pid = 0;
  const int error = Spawn(
      {.parent = getpid(), .kind = kind, .max_bytes = options.compile.max_bytes, .options = options}, its.get(), pid);
  if (error != 0) {
    return Failed(
        "cannot start the process that compiles (there is none with --compile-timeout 0 and --max-compile-memory 0)",
        error);
  }
  CompilerProcess process(pid);
  its = OpenFile(-1);
  Conversation conversation(ours.get(), wasm, options.compile);
  if (!conversation.Hold()) {
    return std::unexpected(
        fmt::format("compiling it takes longer than {} ms: --compile-timeout (engine.compile_timeout_ms)",
                    options.compile.timeout_ms));
  }
  if (auto answer = conversation.Answer()) return std::move(*answer);
  return std::unexpected(NoAnswer(options.compile, process.HowItEnded()));
}

}  // namespace wasinn::wasmtime
