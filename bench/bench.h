// Measures a model natively and from guests.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/guest.h"
#include "bench/report.h"
#include "bench/tensors.h"
#include "cli/host_flags.h"

namespace wasinn::bench {

// Which form of wasi-nn the guest uses: that of core modules, wasinn's one call for all, or that of components.
enum class Abi { kWitx, kOnce, kWit };

struct Options {
  cli::HostFlags host;
  std::string model;  // a file, a folder, or the name of a model in the settings
  Abi abi = Abi::kWitx;
  std::string engine = "wasmtime";
  std::function<Result<std::unique_ptr<GuestProgram>>()> compile;  // the guest, on an engine that the command has not
  size_t guests = 1;
  Budget budget{.seconds = 3};
  std::vector<int> cpus;  // the first is the one of single inferences; none: any
  Shapes shapes;
};

Result<Report> Measure(const Options& options);

}  // namespace wasinn::bench
