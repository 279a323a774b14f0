// Programs of others that are run for what they print or write.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "artifacts/reference.h"

namespace wasinn::artifacts {

// In a folder of PATH with an absolute path, as the working folder may have one that somebody else wrote; "": in none.
std::string FindProgram(std::string_view name);

struct ProgramRun {
  std::vector<std::string> command;  // an absolute path, and arguments
  std::string folder;                // that it works in; "": this process's
  std::chrono::milliseconds timeout{0};
  uint64_t most_file_bytes = 0;    // of each file that it writes
  uint64_t most_output_bytes = 0;  // of what it prints
};

// What it printed, if it exited with 0. Else an error that has the last words of its standard error. It gets no input, and ends
// with this process, however that ends.
Result<std::string> RunProgram(const ProgramRun& run);

}  // namespace wasinn::artifacts
