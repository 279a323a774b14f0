// How the engine under test runs a guest: by `wasinn run`, or by the engine's own program. ctest runs the same tests on
// each engine, which WASINN_ENGINE names.
#pragma once

#include <string>
#include <vector>

#include "support/command.h"

namespace wasinn::testing {

struct GuestCommand {
  std::vector<std::string> argv;         // argv[0] is a path
  std::vector<std::string> environment;  // NAME=VALUE, to be added
};

// `flags` are those of `wasinn run`; another program gets what they mean in its own words and by the environment, or
// the test fails. `module` is a path.
GuestCommand MakeGuestCommand(const std::vector<std::string>& flags, const std::string& module,
                              const std::vector<std::string>& args);

// Runs a guest of the build's, named without its ".wasm".
CommandResult RunGuest(const std::vector<std::string>& flags, const std::string& guest,
                       const std::vector<std::string>& args);

// An engine's own program may run with another C library than this one, whose mathematics round otherwise: what a
// reference program must be run by, so that its results are comparable. Empty: by nothing.
std::vector<std::string> LibrariesOfTheEngine();
// The same for a test that is its own reference: runs the current test in another process if need be, and returns
// whether it did. Nothing is then left to do.
bool RanWithLibrariesOfTheEngine();

bool OnWamr();
bool OnWasmEdge();

// Whether each pair of a format, a form and an engine is tested once, and not their product (WASINN_PAIRWISE).
bool OnlyPairs();
// Whether the engine under test has the case of this number: each, unless the engines share them, in turns, for OnlyPairs.
bool IsThisEnginesPart(size_t number);

}  // namespace wasinn::testing
