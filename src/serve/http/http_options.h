// What clients may ask of an HTTP server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "serve/http/tls.h"
#include "serve/metrics/access_log.h"
#include "serve/tenants/memory_budget.h"

namespace wasinn::serve {

struct HttpOptions {
  std::shared_ptr<MemoryBudget> budget;   // of bodies and responses
  std::shared_ptr<Tls> tls;               // NULL: none
  std::shared_ptr<AccessLog> access_log;  // NULL: none
  uint32_t max_header_bytes = 16u << 10;  // beside the budget
  size_t max_connections = 16384;
  int max_descriptor = INT32_MAX;          // the system's number of a connection's, so that models find some left
  std::chrono::milliseconds idle{75'000};  // between two requests, and until a whole header has come
  std::chrono::milliseconds slow{
      30'000};  // for a body or a response, and as much more as its bytes may take (min_data_rate.h)
};

}  // namespace wasinn::serve
