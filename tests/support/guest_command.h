// How the engine under test runs a guest: by `wasinn run`, or by the engine's own program. ctest runs the same tests on
// each engine, which WASINN_ENGINE names.
#pragma once

#include <string>
#include <vector>

namespace wasinn::testing {

struct GuestCommand {
  std::vector<std::string> argv;         // argv[0] is a path
  std::vector<std::string> environment;  // NAME=VALUE, to be added
};

// `flags` are those of `wasinn run`; another program gets what they mean in its own words and by the environment, or
// the test fails. `module` is a path.
GuestCommand MakeGuestCommand(const std::vector<std::string>& flags, const std::string& module,
                              const std::vector<std::string>& args);

bool OnWamr();
bool OnWasmEdge();

}  // namespace wasinn::testing
