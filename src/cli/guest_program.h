// What `wasinn run` and `wasinn check` do with flags before a guest runs.
#pragma once

#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "cli/run_flags.h"
#include "engines/engine.h"

namespace wasinn::cli {

// Sets what a run gets beside its guest. The first word is the module.
void PrepareRun(const CLI::App& app, RunFlags& flags, const std::vector<std::string>& module_and_args);

// Where the module lies, which may be in a registry: what LoadProgram is to be given. The guest learns the file's name.
engines::Result<std::string> FindModule(RunFlags& flags, const std::string& module);

// The program of a module's file, "-" for the standard input; within what the host's settings say.
engines::Result<std::unique_ptr<engines::Program>> LoadProgram(RunFlags& flags, const Host& host,
                                                               const std::string& module);

// The guest's limits, for its run.
void SetLimits(RunFlags& flags, const Host& host);

}  // namespace wasinn::cli
