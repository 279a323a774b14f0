// Limits for the clients of an HTTP server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "serve/http/tls.h"
#include "serve/metrics/access_log.h"
#include "serve/tenants/memory_budget.h"

namespace wasinn::serve {

// The limit of a request that needs no body, and perhaps no key. No option changes it.
inline constexpr uint64_t kMostSmall = 4096;

struct HttpOptions {
  std::shared_ptr<MemoryBudget> budget;   // for bodies and responses
  std::shared_ptr<Tls> tls;               // NULL: none
  std::shared_ptr<AccessLog> access_log;  // NULL: none
  uint32_t max_header_bytes = 16u << 10;  // not in the budget
  size_t max_connections = 16384;
  int max_descriptor = INT32_MAX;          // the largest number of a connection, so that some are left for models
  std::chrono::milliseconds idle{75'000};  // between two requests, and until a whole header has come
  std::chrono::milliseconds slow{30'000};  // for a body or a response, plus the time of its bytes (min_data_rate.h)
};

}  // namespace wasinn::serve
