// What one wasinn host has opened: TensorFlow and configuration.
#pragma once

#include <wasinn/backend.h>

#include <string>

#include "common/log.h"
#include "common/target.h"
#include "tensorflow/config.h"
#include "tensorflow/tf_library.h"

namespace wasinn::tensorflow {

// Immutable but for what was warned of; outlives its models.
class Host {
 public:
  Host(const wasinn_host_services& services, const char* config);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const backend::Log& log() const { return log_; }
  const wasinn_host_services& services() const { return services_; }
  const BackendConfig& config() const { return config_; }
  const TfLibrary& library() const { return library_; }
  bool has_gpu() const { return has_gpu_; }
  const wasinn_backend_info* info() const { return &info_; }

  const backend::FallbackWarning& fallback() const { return fallback_; }

 private:
  const wasinn_host_services services_;
  const backend::Log log_;
  const backend::FallbackWarning fallback_;
  const BackendConfig config_;
  const TfLibrary library_;
  const bool has_gpu_;
  wasinn_backend_info info_;
};

}  // namespace wasinn::tensorflow
