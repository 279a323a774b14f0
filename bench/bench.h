// Measures a model natively and from guests.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/guest.h"
#include "bench/report.h"
#include "bench/tensors.h"
#include "cli/host_flags.h"

namespace wasinn::bench {

// The form of wasi-nn that the guest uses: that of core modules, wasinn's one call for everything, or that of
// components, 2024-10-28 or the draft for WASI 0.3.
enum class Abi { kWitx, kOnce, kWit, kWit03 };
const char* NameOf(Abi abi);
inline bool IsOfComponents(Abi abi) { return abi == Abi::kWit || abi == Abi::kWit03; }

struct Options {
  cli::HostFlags host;
  std::string model;  // a file, a folder, or the name of a model in the settings
  Abi abi = Abi::kWitx;
  std::string engine = "wasmtime";
  // the guest, on an engine that the command does not have
  std::function<Result<std::unique_ptr<GuestProgram>>()> compile;
  // numbers of guests at once, and of native threads: rising, one measurement for each
  std::vector<size_t> concurrency = {1};
  Budget budget{.seconds = 3};
  std::vector<int> cpus;  // the first CPU is for single inferences; empty: any CPU
  Shapes shapes;
  bool steps = true;                                // of the host: another run for each number of guests
  std::function<void(const std::string&)> on_step;  // gets the next measurement; may be empty
};

// How many times `on_step` is called.
size_t StepsOf(const Options& options);

Result<Report> Measure(const Options& options);

}  // namespace wasinn::bench
