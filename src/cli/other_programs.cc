// Commands that are programs of their own, beside this one: this starts them.
#include <unistd.h>

#include <CLI/App.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "cli/command.h"
#include "cli/log.h"

namespace wasinn::cli {
namespace {

struct OtherProgram {
  const char* command;
  const char* what;
  const char* component;  // what `cmake --install` is to be told
};
constexpr OtherProgram kPrograms[] = {
    {"bench", "Time a model natively and from a guest", " --component bench"},
    {"serve", "Serve models over HTTP and gRPC", ""},
};

bool AsksForHelp(char** words) {
  for (; *words != nullptr; ++words) {
    if (std::string_view(*words) == "--help" || std::string_view(*words) == "-h") return true;
  }
  return false;
}

int Start(const OtherProgram& program, char** argv) {
  const std::string command = program.command;
  // Beside this very file, and nowhere else: the working folder and PATH may have one that a guest wrote.
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return Fail(command + ": cannot find its program without /proc: " + failed.message());
  std::string name = "wasinn-" + command;
  const std::string path = (self.parent_path() / name).string();
  argv[0] = name.data();
  execv(path.c_str(), argv);
  if (errno != ENOENT) return Fail(command + ": cannot start " + path + ": " + std::strerror(errno));
  const std::string missing =
      "there is no " + path + "; where wasinn was built, `cmake --build --preset release --target wasinn_" + command +
      "` makes it, and `cmake --install build/release --prefix PREFIX" + program.component + "` installs it";
  if (!AsksForHelp(argv + 1)) return Fail(command + ": " + missing);
  std::printf("%s.\nIts flags are told by a program of its own: %s.\n", program.what, missing.c_str());
  return 0;
}

}  // namespace

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
