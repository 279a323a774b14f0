// wasinn bench: a program of its own, for who develops; this starts it.
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

constexpr char kProgram[] = "wasinn-bench";
constexpr char kWhat[] = "Time a model natively and from a guest";

bool AsksForHelp(char** words) {
  for (; *words != nullptr; ++words) {
    if (std::string_view(*words) == "--help" || std::string_view(*words) == "-h") return true;
  }
  return false;
}

}  // namespace

void ListBenchCommand(CLI::App& app) { app.add_subcommand("bench", kWhat); }

int StartBench(char** argv) {
  // Beside this very file, and nowhere else: the working folder and PATH may have one that a guest wrote.
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return Fail(std::string("bench: cannot find ") + kProgram + " without /proc: " + failed.message());
  const std::string program = (self.parent_path() / kProgram).string();
  std::string name = kProgram;
  argv[0] = name.data();
  execv(program.c_str(), argv);
  if (errno != ENOENT) return Fail("bench: cannot start " + program + ": " + std::strerror(errno));
  const std::string missing = "there is no " + program +
                              "; where wasinn was built, `cmake --build --preset release --target wasinn_bench` makes "
                              "it, and `cmake --install build/release --prefix PREFIX --component bench` installs it";
  if (!AsksForHelp(argv + 1)) return Fail("bench: " + missing);
  std::printf("%s.\nIts flags are told by a program of its own: %s.\n", kWhat, missing.c_str());
  return 0;
}

}  // namespace wasinn::cli
