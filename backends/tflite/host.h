// What one wasinn host has opened: TensorFlow Lite and its configuration.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <string>

#include "common/log.h"
#include "common/reservation.h"
#include "common/spare_threads.h"
#include "common/target.h"
#include "tflite/config.h"
#include "tflite/tflite_library.h"

namespace wasinn::tflite {

// Immutable but for counters; outlives its models.
class Host {
 public:
  Host(const wasinn_host_services& services, const char* config);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const backend::Log& log() const { return log_; }
  const wasinn_host_services& services() const { return services_; }
  const BackendConfig& config() const { return config_; }
  const TfLiteLibrary& library() const { return library_; }
  const wasinn_backend_info* info() const { return &info_; }

  // Which computes share.
  backend::SpareThreads& spare_threads() const { return spare_threads_; }
  // Which contexts keep to their end.
  backend::SpareThreads& pooled_threads() const { return pooled_threads_; }
  // Which interpreters have that no context uses.
  backend::SpareThreads& idle_threads() const { return idle_threads_; }
  // For memory of what waits for the next contexts of guests' own models: a part of what the host can spare for all of
  // them. Their guests pay nothing for it, so that it is not in their way when they load more.
  backend::Reservation NewIdleReservation() const { return {idle_, nullptr}; }

  const backend::FallbackWarning& fallback() const { return fallback_; }

 private:
  static uint32_t ReserveIdle(void* self, void* account, int64_t bytes);

  const wasinn_host_services services_;
  const backend::Log log_;
  const backend::FallbackWarning fallback_;
  const BackendConfig config_;
  const TfLiteLibrary library_;
  const std::string devices_;
  wasinn_backend_info info_;
  mutable backend::SpareThreads spare_threads_;
  mutable backend::SpareThreads pooled_threads_;
  mutable backend::SpareThreads idle_threads_;
  const wasinn_host_services idle_;
  std::atomic<int64_t> idle_bytes_ = 0;
};

}  // namespace wasinn::tflite
