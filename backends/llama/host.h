// The objects of one wasinn host: llama.cpp and its configuration.
#pragma once

#include <wasinn/backend.h>

#include "common/bases.h"
#include "common/spare_threads.h"
#include "llama/common_library.h"
#include "llama/config.h"
#include "llama/llama_library.h"

namespace wasinn::llama {

// Immutable except for counters; outlives its models.
class Host : public backend::HostBase {
 public:
  Host(const wasinn_host_services& services, const char* config);

  const BackendConfig& config() const { return config_; }
  const LlamaLibrary& library() const { return library_; }
  const CommonLibrary& common() const { return common_; }

  // Threads for single computes.
  backend::SpareThreads& spare_threads() const { return spare_threads_; }
  // Threads that contexts keep between computes.
  backend::SpareThreads& pooled_threads() const { return pooled_threads_; }

 private:
  const BackendConfig config_;
  const LlamaLibrary library_;
  const CommonLibrary common_;
  mutable backend::SpareThreads spare_threads_;
  mutable backend::SpareThreads pooled_threads_;
};

}  // namespace wasinn::llama
