// PyTorch in this OS process, as one host uses it.
#pragma once

#include <wasinn/backend.h>

#include "common/bases.h"
#include "torch/config.h"

namespace wasinn::torch {

// CUDA devices that PyTorch sees.
int GpuCount();

class Host : public backend::HostBase {
 public:
  Host(const wasinn_host_services& services, const char* config);

  const BackendConfig& config() const { return config_; }

 private:
  const BackendConfig config_;
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
