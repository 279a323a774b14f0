#include "cli/other_programs.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/log.h"
#include "cli/own_prefix.h"
#include "core/models/install_hints.h"

namespace wasinn::cli {
namespace {

struct OtherProgram {
  const char* command;
  const char* what;
  const char* component;  // the argument of `cmake --install`
  const char* needs;      // the commands before a build that the quick start lacks
};
constexpr OtherProgram kPrograms[] = {
    {"bench", "Time a model natively and from a guest", " --component bench", ""},
    {"serve", "Serve models over HTTP and gRPC", "", "scripts/deps.sh serve && cmake --preset release && "},
};

bool AsksForHelp(char** words) {
  for (; *words != nullptr; ++words) {
    if (std::string_view(*words) == "--help" || std::string_view(*words) == "-h") return true;
  }
  return false;
}

// Only next to this file: the working folder and PATH may have a program that a guest wrote.
std::string PathOf(const std::string& command, std::error_code& failed) {
  return (OwnPath(failed).parent_path() / ("wasinn-" + command)).string();
}

int Start(const OtherProgram& program, char** argv) {
  const std::string command = program.command;
  std::error_code failed;
  const std::string path = PathOf(command, failed);
  if (failed) return Fail(command + ": cannot find its program without /proc: " + failed.message());
  std::string name = "wasinn-" + command;
  argv[0] = name.data();
  execv(path.c_str(), argv);
  if (errno != ENOENT) return Fail(command + ": cannot start " + path + ": " + std::strerror(errno));
  std::string build = std::string("where wasinn was built, ") + program.needs +
                      "cmake --build --preset release --target wasinn_" + command;
  if (SourceFolder().empty())
    build += std::string(" && cmake --install build/release --prefix PREFIX") + program.component;
  const std::string missing = "there is no " + path + "; to get it: " + HowToInstall(command, build);
  if (!AsksForHelp(argv + 1)) return Fail(command + ": " + missing);
  std::printf("%s.\nAnother program prints its flags: %s.\n", program.what, missing.c_str());
  return 0;
}

// The text that a program writes to its standard output.
std::string OutputOf(const std::string& path, char* const* argv, char* const* environment) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = 0;
  const bool started = posix_spawn(&child, path.c_str(), &actions, nullptr, argv, environment) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string output;
  std::array<char, 4096> part;
  for (ssize_t size; started && (size = read(ends[0], part.data(), part.size())) != 0;) {
    if (size > 0) output.append(part.data(), static_cast<size_t>(size));
    if (size < 0 && errno != EINTR) break;
  }
  close(ends[0]);
  if (started) waitpid(child, nullptr, 0);
  return output;
}

}  // namespace

std::string HowToInstall(std::string_view name, const std::string& own) {
  const std::string folders[] = {BackendFolder().string()};
  return folders[0].empty() ? own : core::InstallHints(folders).For(name, own);
}

std::string HowToGetWamr() {
  return HowToInstall("wamr", "scripts/deps.sh wamr where wasinn is built, then build it again");
}

bool IsOtherProgram(const std::string& command) {
  return std::ranges::any_of(kPrograms, [&](const OtherProgram& program) { return command == program.command; });
}

std::optional<CommandText> DescribeOtherProgram(const std::string& command) {
  std::error_code failed;
  const std::string path = PathOf(command, failed);
  if (failed) return {};
  std::string name = "wasinn-" + command, help = "--help", describe = std::string(kDescribeVariable) + "=1";
  char* const argv[] = {name.data(), help.data(), nullptr};
  std::vector<char*> environment = {describe.data()};
  for (char** variable = environ; *variable != nullptr; ++variable) environment.push_back(*variable);
  environment.push_back(nullptr);
  auto text = CommandTextFrom(OutputOf(path, argv, environment.data()));
  if (text) text->name = command;
  return text;
}

void ListOtherPrograms(CLI::App& app) {
  for (const OtherProgram& program : kPrograms) app.add_subcommand(program.command, program.what);
}

std::optional<int> StartOtherProgram(char** argv) {
  for (const OtherProgram& program : kPrograms) {
    if (argv[0] != nullptr && std::strcmp(argv[0], program.command) == 0) return Start(program, argv);
  }
  return {};
}

}  // namespace wasinn::cli
