// What one wasinn host has opened: llama.cpp and its configuration.
#pragma once

#include <wasinn/backend.h>

#include <string>

#include "common/log.h"
#include "common/spare_threads.h"
#include "common/target.h"
#include "llama/common_library.h"
#include "llama/config.h"
#include "llama/llama_library.h"

namespace wasinn::llama {

// Immutable but for counters; outlives its models.
class Host {
 public:
  Host(const wasinn_host_services& services, const char* config);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const backend::Log& log() const { return log_; }
  // For what charges to accounts.
  const wasinn_host_services& services() const { return services_; }
  const BackendConfig& config() const { return config_; }
  const LlamaLibrary& library() const { return library_; }
  const CommonLibrary& common() const { return common_; }
  const wasinn_backend_info* info() const { return &info_; }

  // Which computes share.
  backend::SpareThreads& spare_threads() const { return spare_threads_; }
  // Which contexts may keep from one compute to the next.
  backend::SpareThreads& pooled_threads() const { return pooled_threads_; }

  const backend::FallbackWarning& fallback() const { return fallback_; }

 private:
  const wasinn_host_services services_;
  const backend::Log log_;
  const backend::FallbackWarning fallback_;
  const BackendConfig config_;
  const LlamaLibrary library_;
  const CommonLibrary common_;
  const std::string devices_;
  wasinn_backend_info info_;
  mutable backend::SpareThreads spare_threads_;
  mutable backend::SpareThreads pooled_threads_;
};

}  // namespace wasinn::llama
