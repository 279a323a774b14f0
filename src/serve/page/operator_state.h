// An overview of a server for its operator: GET /wasinn/state.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <nlohmann/json.hpp>

#include "serve/generation.h"
#include "serve/http/http_message.h"
#include "serve/models/statistics.h"

namespace wasinn::serve {

// Thread-safe. It waits for nothing that takes long, and makes its text at most a few times a second for each tenant.
class OperatorState {
 public:
  struct Sources {
    std::shared_ptr<const Statistics> statistics;
    std::shared_ptr<MemoryBudget> budget;
    // A part of the answer.
    std::function<nlohmann::json(const Generation& generation)> load;
  };
  explicit OperatorState(Sources sources) : sources_(std::move(sources)) {}

  // Contains the models that the tenant sees.
  Response Answer(const Generation& generation, const Tenant& tenant);

 private:
  using Clock = std::chrono::steady_clock;

  struct Made {
    std::string text;
    Clock::time_point at;
  };

  std::string Make(const Generation& generation, const Tenant& tenant) const;
  nlohmann::json Models(const Catalog& catalog, const Tenant& tenant) const;

  const Sources sources_;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;               // guards the members below
  std::map<uint64_t, Made> made_;  // recent ones, by the tenant's share
};

}  // namespace wasinn::serve
