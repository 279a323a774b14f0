#include "cli/graph_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "artifacts/program.h"

namespace wasinn::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kDrawn = {".svg", ".png", ".pdf"};
constexpr rlim_t kSeconds = 20, kBytes = rlim_t{2} << 30;
constexpr int kNotStarted = 127;

// Limits this process: a graph's cost for Graphviz, whose time grows faster than the graph.
void Limit(__rlimit_resource_t what, rlim_t most) {
  rlimit limit = {};
  getrlimit(what, &limit);
  limit.rlim_max = limit.rlim_cur = std::min(most, limit.rlim_max);
  setrlimit(what, &limit);
}

// Runs in a new process, so it only makes system calls.
[[noreturn]] void RunDot(int input, char* const* argv) {
  dup2(input, STDIN_FILENO);
  Limit(RLIMIT_CPU, kSeconds);
  Limit(RLIMIT_AS, kBytes);
  execve(argv[0], argv, environ);
  _exit(kNotStarted);
}

// A file without a name, which is removed with this process in any case.
std::expected<int, std::string> FileOf(const std::string& text) {
  const int file = memfd_create("model.dot", MFD_CLOEXEC);
  for (size_t at = 0; file >= 0 && at < text.size();) {
    const ssize_t size = write(file, text.data() + at, text.size() - at);
    if (size < 0 && errno != EINTR) {
      const int failed = errno;
      close(file);
      return std::unexpected(fmt::format("cannot keep the graph: {}", std::strerror(failed)));
    }
    at += size < 0 ? 0 : static_cast<size_t>(size);
  }
  if (file < 0) return std::unexpected(fmt::format("cannot keep the graph: {}", std::strerror(errno)));
  lseek(file, 0, SEEK_SET);
  return file;
}

// Runs Graphviz.
std::expected<void, std::string> Draw(const std::string& dot, const std::string& path) {
  const auto input = FileOf(dot);
  if (!input) return std::unexpected(input.error());
  std::string program = artifacts::FindProgram("dot"), type = "-T" + fs::path(path).extension().string().substr(1),
              to = "-o" + path;
  char* const argv[] = {program.data(), type.data(), to.data(), nullptr};
  const pid_t child = fork();
  if (child == 0) RunDot(*input, argv);
  const int failed = errno;
  close(*input);
  if (child < 0) return std::unexpected(fmt::format("cannot start {}: {}", program, std::strerror(failed)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotStarted) return std::unexpected("cannot start " + program);
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
    return std::unexpected("Graphviz took too long: write .dot");
  return std::unexpected(fmt::format("{} could not draw {}: write .dot to see the graph's text", program, path));
}

std::expected<void, std::string> Write(const std::string& text, const std::string& path) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (file) return {};
  return std::unexpected(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

}  // namespace

std::expected<void, std::string> CheckDrawing(const std::string& path) {
  const std::string type = fs::path(path).extension().string();
  if (type == ".dot") return {};
  bool is_drawn = false;
  for (const std::string_view drawn : kDrawn) is_drawn |= type == drawn;
  if (!is_drawn) return std::unexpected(fmt::format("'{}' ends with none of .dot, .svg, .png and .pdf", path));
  if (!artifacts::FindProgram("dot").empty()) return {};
  return std::unexpected(
      "Graphviz's program `dot` draws it, and is not here: `apt-get install graphviz` installs it; a file .dot needs "
      "none");
}

std::expected<void, std::string> WriteDrawing(const std::string& dot, const std::string& path) {
  if (fs::path(path).extension() == ".dot") return Write(dot, path);
  return Draw(dot, path);
}

}  // namespace wasinn::cli
