// The outcome of a run and its guest's use of resources: for --json and --stats.
#pragma once

#include <wasinn/wasinn.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "engines/engine.h"

namespace wasinn::cli {

// Thread-safe.
class RunReport {
 public:
  using Clock = std::chrono::steady_clock;

  void Begin(std::string module, std::string engine);
  // Adds a step that has ended.
  void Add(const wasinn_span& span);
  // The program is compiled, and the guest is about to run.
  void Running(wasinn_guest* guest);
  // Only the first call counts. The guest may be freed afterwards.
  void End(const engines::Exit& exit, int code);

  // Successful computes, of one model and of all others, steps of its generations, and failed calls of any function.
  struct Sum {
    uint64_t computed = 0, others = 0, steps = 0, errors = 0;
  };
  Sum Total(const std::string& model);
  std::string ToJson();
  std::string ToText();

 private:
  struct Times {
    uint64_t count = 0, errors = 0, total_ns = 0;
    void Add(const wasinn_span& span);
  };
  struct Model {
    Times loads, computes, in_framework;

    // For a guest that takes a text in pieces. A compute reports itself, too; a step only its time in the framework.
    uint64_t steps() const { return in_framework.count - std::min(in_framework.count, computes.count); }
  };
  double CompileSeconds() const;
  double RunSeconds() const;

  std::mutex mutex_;  // guards the members below
  std::string module_, engine_;
  Clock::time_point began_, runs_, ended_;
  bool is_running_ = false, is_over_ = false;
  wasinn_guest* guest_ = nullptr;
  wasinn_statistics stats_ = {.struct_size = sizeof(wasinn_statistics)};
  engines::Exit exit_;
  int code_ = 0;
  std::map<std::pair<std::string, uint32_t>, Model> models_;  // by name and version
};

}  // namespace wasinn::cli
