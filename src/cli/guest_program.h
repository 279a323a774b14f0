// The common part of `wasinn run` and `wasinn check` before a guest runs.
#pragma once

#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "cli/run_flags.h"
#include "engines/engine.h"

namespace wasinn::cli {

// Sets the options of a run besides its guest. The first word is the module.
void PrepareRun(const CLI::App& app, RunFlags& flags, const std::vector<std::string>& module_and_args);

// The module's local path, for LoadProgram; the module may be in a registry. The guest gets the file's name.
engines::Result<std::string> FindModule(RunFlags& flags, const std::string& module);

// The program of a module's file, "-" for the standard input; compiled with the host's settings.
engines::Result<std::unique_ptr<engines::Program>> LoadProgram(RunFlags& flags, const Host& host,
                                                               const std::string& module);

// Applies the guest's limits to its run.
void SetLimits(RunFlags& flags, const Host& host);

}  // namespace wasinn::cli
