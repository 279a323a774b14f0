// Models that end, stop or fill the process that loads and computes them. In a worker they cost their guest an error.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace wasinn::testing {

struct Killer {
  std::string name;                     // "onnx_divides"
  std::string backend;                  // "onnx"
  uint32_t encoding;                    // of wasi-nn
  std::vector<std::string> honest;      // a model for digits of the same format: files of the folder models
  std::vector<std::string> (*parts)();  // makes them: some are large
  uint32_t deadline_ms;                 // of the compute; a load may open the framework first, and has kLoadDeadline
  // The function that fails, its errno, and a regular expression of the host's log about it.
  std::string function, error, log;

  friend void PrintTo(const Killer& killer, std::ostream* out) { *out << killer.name; }
};

// The guest's limits on its models' bytes, and on its tensors'.
inline constexpr uint64_t kKillersBytes = uint64_t{256} << 20;

inline constexpr uint32_t kLoadDeadline = 60'000;  // in milliseconds

// Those of the frameworks that the build has. Each takes one number as its input, or nothing.
std::vector<Killer> Killers();

}  // namespace wasinn::testing
