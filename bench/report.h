// What `wasinn bench` found.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/measure.h"

namespace wasinn::bench {

// The three ways in which one inference is timed, in the order of MeasureLatency's results.
enum Side { kNative, kNativeCopy, kGuest, kSides };

inline constexpr uint32_t kLoop = 16;

struct Report {
  std::string model;      // as the user named it
  std::string framework;  // "ONNX Runtime 1.31.1"
  std::string engine;     // that runs the guest
  int threads = 1;        // of one inference
  size_t guests = 1;
  std::vector<int> cpus;  // that it was pinned to; empty: none
  Budget budget;
  uint64_t input_bytes = 0, output_bytes = 0;

  double p50_us[kSides] = {}, p99_us[kSides] = {};
  uint64_t samples = 0;  // of each side
  double empty_call_us = 0;
  struct Loop {
    double native_us = 0, guest_us = 0;  // one of kLoop inferences; native with copies
  };
  Loop loop_p50, loop_p99;
  Rates rates;                                                  // a: native threads, b: guests
  double bytes_copied = 0, copies = 0;                          // by wasinn, of one inference
  std::optional<double> native_allocations, guest_allocations;  // of one inference
  bool outputs_equal = false;
};

std::string ToText(const Report& report);
std::string ToJson(const Report& report);

}  // namespace wasinn::bench
