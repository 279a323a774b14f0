// The page for operators: GET /, and its requests below /wasinn/.
#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "serve/generation.h"
#include "serve/http/http_message.h"
#include "serve/http/origins.h"
#include "serve/models/statistics.h"

namespace wasinn::serve {

// Thread-safe. The overview of the server (GET /wasinn/state) waits for nothing that takes long, and is made at most a few times a
// second for each tenant.
class OperatorPage {
 public:
  struct Sources {
    std::shared_ptr<const Statistics> statistics;
    std::shared_ptr<MemoryBudget> budget;
    // A part of the overview.
    std::function<nlohmann::json(const Generation& generation)> load;
  };
  // `origins` outlives it.
  OperatorPage(const Origins& origins, Sources sources) : origins_(origins), sources_(std::move(sources)) {}

  // Whether a request is for it. `has_root`: "/" is the page's, and not a route's.
  bool Has(const Header& request, bool has_root) const;
  // Whether it asks for more than public files: then its tenant must be an operator.
  static bool IsState(const Header& request);
  Response Answer(const Exchange& exchange);

 private:
  using Clock = std::chrono::steady_clock;

  struct Made {
    std::string text;
    Clock::time_point at;
  };

  Response Find(const Exchange& exchange);
  // Contains the models that the tenant sees.
  Response AnswerState(const Generation& generation, const Tenant& tenant);
  std::string MakeState(const Generation& generation, const Tenant& tenant) const;
  nlohmann::json Models(const Catalog& catalog, const Tenant& tenant) const;

  const Origins& origins_;
  const Sources sources_;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;               // guards the members below
  std::map<uint64_t, Made> made_;  // recent overviews, by the tenant's share
};

}  // namespace wasinn::serve
