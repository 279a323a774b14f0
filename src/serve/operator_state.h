// What an operator wants to know of a server at a glance: GET /wasinn/state.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include <nlohmann/json.hpp>

#include "serve/generation.h"
#include "serve/http_message.h"
#include "serve/statistics.h"

namespace wasinn::serve {

// Any thread. It waits for nothing that takes long, and makes its text anew no more often than a few times in a second, whoever asks.
class OperatorState {
 public:
  struct Sources {
    std::shared_ptr<const Statistics> statistics;
    std::shared_ptr<MemoryBudget> budget;
    // A part of the answer.
    std::function<nlohmann::json(const Generation& generation)> load;
  };
  explicit OperatorState(Sources sources) : sources_(std::move(sources)) {}

  // With the models that this tenant sees.
  Response Answer(const Generation& generation, const Tenant& tenant);

 private:
  using Clock = std::chrono::steady_clock;

  std::string Make(const Generation& generation, const Tenant& tenant) const;
  // And how many were left out.
  std::pair<nlohmann::json, size_t> Models(const Catalog& catalog, const Tenant& tenant) const;

  const Sources sources_;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;          // of what follows
  std::string text_, whose_;  // a tenant's
  Clock::time_point made_;
};

}  // namespace wasinn::serve
