// What clients may ask of an HTTP server.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace wasinn::serve {

struct HttpOptions {
  uint64_t max_body_bytes = 256ull << 20;  // of one request
  uint64_t max_bodies_bytes = 1ull << 30;  // of all requests that are under way
  uint32_t max_header_bytes = 64u << 10;
  size_t max_connections = 16384;
  std::chrono::seconds idle{75};  // between two requests, and until a whole header has come
  std::chrono::seconds slow{30};  // for a body or a response, and a second more for each 100 KB of it
};

// The right to hold so many bytes of bodies; given back when it goes.
class BodyCharge {
 public:
  explicit BodyCharge(std::atomic<uint64_t>& held) : held_(held) {}
  ~BodyCharge() { held_.fetch_sub(bytes_, std::memory_order_relaxed); }
  BodyCharge(const BodyCharge&) = delete;
  BodyCharge& operator=(const BodyCharge&) = delete;

  // Once.
  bool Take(uint64_t bytes, uint64_t most) {
    const uint64_t before = held_.fetch_add(bytes, std::memory_order_relaxed);
    bytes_ = bytes;
    return bytes <= most && before <= most - bytes;
  }

 private:
  std::atomic<uint64_t>& held_;
  uint64_t bytes_ = 0;
};

}  // namespace wasinn::serve
