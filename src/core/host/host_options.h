// The options of a host: a configuration with types.
#pragma once

#include <string>
#include <vector>

#include "core/host/policy.h"
#include "core/metrics/metrics.h"
#include "core/models/backend_loader.h"
#include "core/models/blob.h"
#include "core/models/model_options.h"
#include "core/models/model_registry.h"
#include "core/runtime/clock.h"

namespace wasinn::core {

struct HostOptions {
  // The most that llama.cpp accepts (GGML_MAX_N_THREADS). Other frameworks start any number of threads, for minutes.
  static constexpr uint32_t kMaxThreads = 512;
  // Each thread has a stack of its own.
  static constexpr uint32_t kMaxCallThreads = 4096;

  BackendLoader::Options backends;
  wasinn_limits limits = DefaultLimits();
  wasinn_engine_limits engine_limits = {
      .struct_size = sizeof(wasinn_engine_limits), .max_threads = 64, .max_table_elements = UINT64_MAX, .max_fuel = 0};
  Policy policy;
  wasinn_engine_options engine = {.struct_size = sizeof(wasinn_engine_options),
                                  .allow_precompiled = false,
                                  .pool_instances = 0,
                                  .pool_memory_bytes = 0,
                                  .max_compile_bytes = uint64_t{2} << 30,
                                  .compile_timeout_ms = 120'000};
  wasinn_log_level log_level = WASINN_LOG_WARNING;
  uint32_t max_computes = 0;        // 0: a fixed number for each processor
  uint32_t max_guest_computes = 0;  // for one guest or tenant; 0: all but the last quarter
  uint32_t call_threads = 0;        // for calls whose callers do not wait; 0: one for each processor
  uint64_t max_total_bytes = 0;     // 0: no limit
  uint32_t max_guest_lines = 1000;  // lines of the log in a second; 0: no limit
  MetricsOptions metrics;
  bool isolate_models = false;  // each named model gets a worker of its own by default
  std::vector<std::string> model_dirs;
  std::vector<ModelOptions> models;
  Clock clock;  // for deadlines, delays of batches and pauses of workers
};

}  // namespace wasinn::core
