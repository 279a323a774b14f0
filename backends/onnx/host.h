// What one wasinn host has opened: ONNX Runtime, an environment, configuration.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <string>

#include "common/log.h"
#include "common/target.h"
#include "onnx/block_cache.h"
#include "onnx/config.h"
#include "onnx/environment.h"
#include "onnx/ort_library.h"

namespace wasinn::onnx {

// Immutable but for counters; outlives its models.
class Host {
 public:
  Host(const wasinn_host_services& services, const char* config);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const wasinn_host_services& services() const { return services_; }
  const backend::Log& log() const { return log_; }
  const BackendConfig& config() const { return config_; }
  const OrtLibrary& library() const { return library_; }
  const OrtApi& api() const { return library_.api(); }
  const Environment& environment() const { return environment_; }
  BlockCache* cache() const { return &cache_; }
  const wasinn_backend_info* info() const { return &info_; }

  // A number for everything that charges memory: never 0, and different from all others of this host for 2^32
  // operations each.
  uint64_t NewChargeId() const { return next_charge_id_.fetch_add(uint64_t{1} << 32); }

  const backend::FallbackWarning& fallback() const { return fallback_; }

 private:
  const wasinn_host_services services_;
  const backend::Log log_;
  const backend::FallbackWarning fallback_;
  const BackendConfig config_;
  const OrtLibrary library_;
  const Environment environment_;
  const std::string devices_;
  wasinn_backend_info info_;
  mutable BlockCache cache_;
  mutable std::atomic<uint64_t> next_charge_id_ = uint64_t{1} << 32;
};

}  // namespace wasinn::onnx
