// The objects of one wasinn host: TensorFlow Lite and its configuration.
#pragma once

#include <wasinn/backend.h>

#include <atomic>

#include "common/bases.h"
#include "common/reservation.h"
#include "common/spare_threads.h"
#include "tflite/config.h"
#include "tflite/tflite_library.h"

namespace wasinn::tflite {

// Immutable except for counters; outlives its models.
class Host : public backend::HostOf<BackendConfig, TfLiteLibrary> {
 public:
  Host(const wasinn_host_services& services, const char* config)
      : HostOf(services, config),
        spare_threads_(config_.threads),
        pooled_threads_(config_.threads, kPools),
        idle_threads_(config_.threads, kIdlePools),
        idle_{.struct_size = sizeof(wasinn_host_services),
              .host = this,
              .log = nullptr,
              .threads = 1,
              .reserve = ReserveIdle} {
    Describe("TensorFlow Lite", config_.Devices());
  }

  // Threads that computes share.
  backend::SpareThreads& spare_threads() const { return spare_threads_; }
  // Threads that contexts keep to their end.
  backend::SpareThreads& pooled_threads() const { return pooled_threads_; }
  // Threads of interpreters that no context uses.
  backend::SpareThreads& idle_threads() const { return idle_threads_; }
  // For the memory of idle sessions of guests' own models: a part of the host's memory, for all of them. Their guests
  // do not pay for it, so that they can load more models.
  backend::Reservation NewIdleReservation() const { return {idle_, nullptr}; }

 private:
  static constexpr int kPools = 16, kIdlePools = 4;
  static constexpr int64_t kMaxIdle = 128 << 20;

  static uint32_t ReserveIdle(void* self, void* /*account*/, int64_t bytes) {
    std::atomic<int64_t>& held = static_cast<Host*>(self)->idle_bytes_;
    int64_t before = held;
    do {
      if (bytes > kMaxIdle - before) return WASINN_ERROR_TOO_LARGE;
    } while (!held.compare_exchange_weak(before, before + bytes));
    return WASINN_OK;
  }

  mutable backend::SpareThreads spare_threads_;
  mutable backend::SpareThreads pooled_threads_;
  mutable backend::SpareThreads idle_threads_;
  const wasinn_host_services idle_;
  std::atomic<int64_t> idle_bytes_ = 0;
};

}  // namespace wasinn::tflite
