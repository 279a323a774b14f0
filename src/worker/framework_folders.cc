#include "worker/framework_folders.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace wasinn::worker {
namespace {

constexpr std::string_view kOpened = "opened\n";

// The folders of executable mappings with a library's name.
std::set<std::string> FoldersOfLibraries() {
  std::set<std::string> folders;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const size_t path = line.find('/');
    const std::string_view rights = std::string_view(line).substr(line.find(' ') + 1);
    if (path == line.npos || rights.size() < 4 || rights[2] != 'x') continue;
    const std::filesystem::path file = line.substr(path);
    if (file.filename().native().find(".so") != std::string::npos) folders.insert(file.parent_path());
  }
  return folders;
}

// One line for each folder; or the error.
std::string OpenAndListFolders(FrameworkOf& framework) {
  if (const core::Status status = framework.Open(); !status.ok()) {
    return fmt::format("{}\n{}", static_cast<uint32_t>(status.code()), status.message());
  }
  std::string text(kOpened);
  for (const std::string& folder : FoldersOfLibraries()) text += folder + "\n";
  if (const auto described = framework.Describe(); described && described->library.find('/') == 0) {
    text += std::filesystem::path(described->library).parent_path().string() + "\n";
  }
  return text;
}

[[noreturn]] void WriteFoldersAndEnd(FrameworkOf& framework, const base::Descriptor& out) {
  std::string text;
  try {
    text = OpenAndListFolders(framework);
  } catch (const std::exception& error) {
    text = fmt::format("{}\n{}", static_cast<uint32_t>(WASINN_ERROR_RUNTIME), error.what());
  }
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(out.number(), text.data() + done, text.size() - done);
    if (n <= 0) ::_exit(1);
    done += static_cast<size_t>(n);
  }
  ::_exit(0);
}

// The bytes that have come by then.
std::string ReadAll(const base::Descriptor& in, std::chrono::steady_clock::time_point deadline) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd more{.fd = in.number(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&more, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (ready == 0) return text;
    if (ready < 0) continue;
    const ssize_t n = ::read(in.number(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(buffer.data(), static_cast<size_t>(n));
  }
}

core::Status Failed(const std::string& answer) {
  unsigned code = 0;
  std::istringstream text(answer);
  std::string message;
  if (!(text >> code) || code == WASINN_OK || code > WASINN_ERROR_LOST) {
    return core::Error(WASINN_ERROR_RUNTIME, "a process that opened the framework ended");
  }
  text.ignore();
  std::getline(text, message, '\0');
  return core::Status(static_cast<wasinn_code>(code), message);
}

}  // namespace

core::Status FindFolders(FrameworkOf& framework, std::chrono::milliseconds patience) {
  std::array<int, 2> pipe = {-1, -1};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return core::Error(WASINN_ERROR_UNAVAILABLE, "no pipe to a process that opens the framework: {}",
                       std::strerror(errno));
  }
  const base::Descriptor in(pipe[0]);
  base::Descriptor out(pipe[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    return core::Error(WASINN_ERROR_UNAVAILABLE, "cannot make a process that opens the framework: {}",
                       std::strerror(errno));
  }
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() == parent) WriteFoldersAndEnd(framework, out);
    ::_exit(1);
  }
  out = base::Descriptor();
  const auto deadline = std::chrono::steady_clock::now() + patience;
  const std::string answer = ReadAll(in, deadline);
  const bool is_late = std::chrono::steady_clock::now() >= deadline;
  ::kill(pid, SIGKILL);  // it has written everything, or never will
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (is_late)
    return core::Error(WASINN_ERROR_UNAVAILABLE, "the framework did not open within {} ms", patience.count());
  // A folder that is cut would name another one.
  if (!answer.starts_with(kOpened) || !answer.ends_with('\n')) return Failed(answer);
  std::vector<std::string> folders;
  std::istringstream lines(answer.substr(kOpened.size()));
  for (std::string line; std::getline(lines, line);) folders.push_back(line);
  framework.SetFolders(std::move(folders));
  return {};
}

}  // namespace wasinn::worker
