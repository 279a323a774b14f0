// The Open Inference Protocol's REST form, with Triton's statistics, configuration and repository.
#pragma once

#include <atomic>

#include "serve/http/http_server.h"
#include "serve/models/statistics.h"
#include "serve/openai/openai.h"
#include "serve/threads/quick_computes.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

struct RestLimits {
  uint64_t most_body = 256u << 20;  // bytes of a request
  uint64_t most_json = 32u << 20;   // of these, bytes of JSON, whose parsing takes many times as much
};

class Rest {
 public:
  // All outlive it.
  struct Parts {
    const Statistics& statistics;
    openai::OpenAi& openai;  // for texts
    Workers& workers;
    Workers& loads;          // for loads of models
    InlinePermits& permits;  // of the threads that call Answer
    InlineTurns& turns;      // of these, too
    RestLimits limits;
  };
  explicit Rest(const Parts& parts) : parts_(parts) {}

  uint64_t MaxBody(const Header& header) const;
  // For a body that is only JSON.
  uint64_t MaxJson() const;
  asio::awaitable<Response> Answer(Exchange& exchange);
  // New requests are still answered, but clients should send no more.
  void Drain() { is_draining_.store(true, std::memory_order_relaxed); }

 private:
  const Parts parts_;
  std::atomic<bool> is_draining_{false};
};

}  // namespace wasinn::serve
