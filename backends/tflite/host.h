// What one wasinn host has opened: TensorFlow Lite and its configuration.
#pragma once

#include <wasinn/backend.h>

#include <atomic>

#include "common/host_base.h"
#include "common/reservation.h"
#include "common/spare_threads.h"
#include "tflite/config.h"
#include "tflite/tflite_library.h"

namespace wasinn::tflite {

// Immutable but for counters; outlives its models.
class Host : public backend::HostBase {
 public:
  Host(const wasinn_host_services& services, const char* config);

  const BackendConfig& config() const { return config_; }
  const TfLiteLibrary& library() const { return library_; }

  // Which computes share.
  backend::SpareThreads& spare_threads() const { return spare_threads_; }
  // Which contexts keep to their end.
  backend::SpareThreads& pooled_threads() const { return pooled_threads_; }
  // Which interpreters have that no context uses.
  backend::SpareThreads& idle_threads() const { return idle_threads_; }
  // For memory of what waits for the next contexts of guests' own models: a part of what the host can spare for all of
  // them. Their guests pay nothing for it, so that it is not in their way when they load more.
  backend::Reservation NewIdleReservation() const { return {idle_, nullptr}; }

 private:
  static uint32_t ReserveIdle(void* self, void* account, int64_t bytes);

  const BackendConfig config_;
  const TfLiteLibrary library_;
  mutable backend::SpareThreads spare_threads_;
  mutable backend::SpareThreads pooled_threads_;
  mutable backend::SpareThreads idle_threads_;
  const wasinn_host_services idle_;
  std::atomic<int64_t> idle_bytes_ = 0;
};

}  // namespace wasinn::tflite
