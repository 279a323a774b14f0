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

// Which form of wasi-nn the guest uses: that of core modules, wasinn's one call for all, or that of components.
enum class Abi { kWitx, kOnce, kWit };
const char* NameOf(Abi abi);

struct Options {
  cli::HostFlags host;
  std::string model;  // a file, a folder, or the name of a model in the settings
  Abi abi = Abi::kWitx;
  std::string engine = "wasmtime";
  std::function<Result<std::unique_ptr<GuestProgram>>()> compile;  // the guest, on an engine that the command has not
  std::vector<size_t> concurrency = {1};  // guests at once, and native threads: rising, one measurement each
  Budget budget{.seconds = 3};
  std::vector<int> cpus;  // the first is the one of single inferences; none: any
  Shapes shapes;
  bool steps = true;                                // of the host: a run more for each number of guests
  std::function<void(const std::string&)> on_step;  // told what is measured next; none: nobody
};

// How often `on_step` is called.
size_t StepsOf(const Options& options);

Result<Report> Measure(const Options& options);

}  // namespace wasinn::bench
