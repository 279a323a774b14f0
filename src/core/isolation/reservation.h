// What a worker's backend keeps for an object, charged to whoever pays for it here.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>

namespace wasinn::isolation {

class Reservation {
 public:
  Reservation(const wasinn_host_services& services, void* account) : services_(services), account_(account) {}
  ~Reservation() { (void)Resize(0); }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  // False: that is more than a limit allows, and what was charged before is charged still.
  bool Resize(uint64_t bytes) {
    if (bytes == held_) return true;
    if (bytes > INT64_MAX || services_.reserve == nullptr) return services_.reserve == nullptr;
    const int64_t more = static_cast<int64_t>(bytes) - static_cast<int64_t>(held_);
    if (services_.reserve(services_.host, account_, more) != WASINN_OK) return false;
    held_ = bytes;
    return true;
  }

 private:
  const wasinn_host_services& services_;
  void* const account_;
  uint64_t held_ = 0;
};

}  // namespace wasinn::isolation
