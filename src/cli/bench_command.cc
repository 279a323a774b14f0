// wasinn bench: a program of its own, for who develops; this starts it.
#include <unistd.h>

#include <CLI/App.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "cli/command.h"
#include "cli/log.h"

namespace wasinn::cli {
namespace {

constexpr char kProgram[] = "wasinn-bench";

}  // namespace

void ListBenchCommand(CLI::App& app) { app.add_subcommand("bench", "Time a model natively and from a guest"); }

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
  return Fail("bench: there is no " + program +
              "; where wasinn was built, `cmake --build --preset release --target wasinn_bench` makes it, and "
              "`cmake --install build/release --prefix PREFIX --component bench` installs it");
}

}  // namespace wasinn::cli
