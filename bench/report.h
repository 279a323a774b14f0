// The results of `wasinn bench`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "bench/steps.h"

namespace wasinn::bench {

// The three ways in which one inference is timed, in the order of MeasureLatency's results.
enum Side { kNative, kNativeCopy, kGuest, kSides };

inline constexpr uint32_t kLoop = 16;

// `guests` guests on one graph, and as many native threads on one session, in turns.
struct Level {
  size_t guests = 1;
  double native_per_s = 0, guest_per_s = 0;
  double ratio = 0;   // guest to native: the median of neighbouring turns
  double spread = 0;  // of the native turns: the noise of the machine
  Percentiles native_us, guest_us;
  std::optional<Steps> steps;  // of the guests, from a run of their own
};

struct Report {
  std::string model;      // as the user named it
  std::string framework;  // "ONNX Runtime 1.31.1"
  std::string engine;     // the engine that runs the guest
  std::string abi;        // the form of wasi-nn that the guest uses
  int threads = 1;        // of one inference
  std::vector<int> cpus;  // the CPUs that it was pinned to; empty: none
  Budget budget;
  uint64_t input_bytes = 0, output_bytes = 0;

  Percentiles latency_us[kSides];
  uint64_t samples = 0;  // of each side
  double empty_call_us = 0;
  struct Loop {
    double native_us = 0, guest_us = 0;  // one of kLoop inferences; native with copies
  };
  Loop loop_p50, loop_p90, loop_p99;
  std::vector<Level> levels;                                    // by the number of guests
  double bytes_copied = 0, copies = 0;                          // by wasinn, of one inference
  std::optional<double> native_allocations, guest_allocations;  // of one inference
  bool outputs_equal = false;
  double load_average = 0;  // of the minute before the run
};

// The allocations of an inference from a guest minus those of a native one.
std::optional<double> AllocationsByWasinn(const Report& report);

std::string ToText(const Report& report);
// Several reports next to each other, with a line for each.
std::string ToComparison(std::span<const Report> reports);
// One report is an object, several are an array.
std::string ToJson(std::span<const Report> reports);
// A line for each level of each report.
std::string ToCsv(std::span<const Report> reports);

}  // namespace wasinn::bench
