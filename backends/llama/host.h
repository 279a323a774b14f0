// What one wasinn host has opened: llama.cpp and its configuration.
#ifndef WASINN_BACKENDS_LLAMA_HOST_H_
#define WASINN_BACKENDS_LLAMA_HOST_H_

#include <wasinn/backend.h>

#include <atomic>
#include <string>

#include "common/log.h"
#include "llama/config.h"
#include "llama/llama_library.h"
#include "llama/schema.h"

namespace wasinn::llama {

// Immutable but for counters; outlives its models.
class Host {
 public:
  Host(const wasinn_host_services& services, const char* config);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const backend::Log& log() const { return log_; }
  const BackendConfig& config() const { return config_; }
  const LlamaLibrary& library() const { return library_; }
  const SchemaConverter& schemas() const { return schemas_; }
  const wasinn_backend_info* info() const { return &info_; }

  // So that all contexts together keep to the budget, each takes of it what it wants and what is left, beside its
  // caller's own thread, and gives it back when it is freed. Returns how many it may use, the caller's included.
  int TakeThreads(int wanted) const;
  void GiveThreads(int threads) const { spare_threads_.fetch_add(threads - 1); }

  // The target's device is missing and the CPU serves in its place.
  void WarnOfFallback(const std::string& why) const;

 private:
  const backend::Log log_;
  const BackendConfig config_;
  const LlamaLibrary library_;
  const SchemaConverter schemas_;
  const std::string devices_;
  wasinn_backend_info info_;
  mutable std::atomic<int> spare_threads_;
  mutable std::atomic<bool> warned_ = false;
};

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_HOST_H_
