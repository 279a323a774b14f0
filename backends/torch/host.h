// One host's use of PyTorch in this OS process.
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
  // wasinn_backend::open_code
  void OpenCode(const std::string& path) const;

 private:
  const BackendConfig config_;
};

// The threads of one compute: the whole budget, or one if another compute of this OS process has the others. PyTorch
// has a pool for each thread that computes, so this keeps all of them together within the budget.
class ComputeThreads {
 public:
  explicit ComputeThreads(int threads);
  ~ComputeThreads();
  ComputeThreads(const ComputeThreads&) = delete;
  ComputeThreads& operator=(const ComputeThreads&) = delete;

 private:
  bool has_pool_ = false;
  int before_ = 0;  // the calling thread's setting; 0: correct already
};

}  // namespace wasinn::torch
