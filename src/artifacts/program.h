// Runs other programs and reads their output.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "artifacts/reference.h"

namespace wasinn::artifacts {

// The first match in PATH's absolute folders, since others may write to the working folder; "": none.
std::string FindProgram(std::string_view name);

struct ProgramRun {
  std::vector<std::string> command;  // an absolute path, and arguments
  std::string folder;                // its working folder; "": this process's
  std::chrono::milliseconds timeout{0};
  uint64_t most_file_bytes = 0;    // for each file that it writes
  uint64_t most_output_bytes = 0;  // for its output
};

// Its output, if it exited with 0. Else an error with the last lines of its standard error. It gets no input, and ends
// with this process in any case.
Result<std::string> RunProgram(const ProgramRun& run);

}  // namespace wasinn::artifacts
