// PyTorch in this OS process, as one host uses it.
#pragma once

#include <wasinn/backend.h>

#include <string>

#include "common/log.h"
#include "common/target.h"
#include "torch/config.h"

namespace wasinn::torch {

// CUDA devices that PyTorch sees.
int GpuCount();

// Immutable but for a flag; outlives its models.
class Host {
 public:
  Host(const wasinn_host_services& services, const char* config);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const backend::Log& log() const { return log_; }
  const wasinn_host_services& services() const { return services_; }
  const BackendConfig& config() const { return config_; }
  const wasinn_backend_info* info() const { return &info_; }
  const backend::FallbackWarning& fallback() const { return fallback_; }

 private:
  const wasinn_host_services services_;
  const backend::Log log_;
  const backend::FallbackWarning fallback_;
  const BackendConfig config_;
  const std::string path_;
  const std::string devices_;
  wasinn_backend_info info_;
};

// For one compute: as many threads as the budget has, or one where another compute of this OS process has them. PyTorch
// has a pool for each thread that computes, so this is what keeps all of them together within the budget.
class ComputeThreads {
 public:
  explicit ComputeThreads(int threads);
  ~ComputeThreads();
  ComputeThreads(const ComputeThreads&) = delete;
  ComputeThreads& operator=(const ComputeThreads&) = delete;

 private:
  bool has_pool_ = false;
  int before_ = 0;  // the calling thread's setting; 0: as it should be
};

}  // namespace wasinn::torch
