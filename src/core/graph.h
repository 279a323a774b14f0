// A loaded, compiled, immutable model. Shared by every process that names it; contexts keep it alive.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/backend.h"
#include "core/blob.h"
#include "core/watchdog.h"

namespace wasinn::core {

class Graph {
 public:
  struct LoadOptions {
    wasinn_encoding encoding = WASINN_AUTODETECT;  // AUTODETECT is resolved before a load
    wasinn_target target = WASINN_CPU;
    std::string host_config = "{}";
    std::string guest_config = "{}";
    bool cpu_fallback = false;
    uint64_t max_bytes = 0;                   // as in wasinn_load_options
    std::chrono::milliseconds deadline{0};    // 0: none
    const std::atomic<bool>* stop = nullptr;  // becomes true: the load is to end soon
  };
  static Result<std::shared_ptr<Graph>> Load(std::shared_ptr<Backend> backend,
                                             std::span<const std::shared_ptr<const Blob>> parts,
                                             const LoadOptions& options, Watchdog& watchdog);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  const Backend& backend() const { return *backend_; }
  wasinn_backend_model* model() const { return model_; }
  std::span<const wasinn_io* const> inputs() const { return {info_->inputs, info_->n_inputs}; }
  std::span<const wasinn_io* const> outputs() const { return {info_->outputs, info_->n_outputs}; }

 private:
  Graph(std::shared_ptr<Backend> backend, wasinn_backend_model* model) : backend_(std::move(backend)), model_(model) {}
  Status ReadInfo();

  const std::shared_ptr<Backend> backend_;
  wasinn_backend_model* const model_;
  const wasinn_info* info_ = nullptr;  // owned by the model
};

}  // namespace wasinn::core
