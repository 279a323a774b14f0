// Counts of answered requests, by path and outcome, and the server's load, in Prometheus' text format.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/metrics/histogram.h"
#include "serve/metrics/trace.h"

namespace wasinn::serve {

class Generation;
class MemoryBudget;
class Routes;
class TextModels;
class Workers;

// The protocol's path for a target, with {model} for a name; "other": any other path. Clients cannot add new ones.
std::string_view PathTemplate(std::string_view target);

// Thread-safe.
class RequestMetrics {
 public:
  // `path` and `status` have few values. A model has its name only if `generation`, which may be NULL, knows it.
  void Add(std::string_view protocol, std::string_view path, std::string_view status, const About& about,
           const Generation* generation);

  std::string Text() const;

 private:
  using Key = std::tuple<std::string_view, std::string, std::string, std::string, std::string>;
  // As above, for a look-up without making a string.
  using Look = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view, std::string_view>;
  struct Less {
    using is_transparent = void;  // NOLINT(readability-identifier-naming)
    bool operator()(const auto& a, const auto& b) const { return Look(a) < Look(b); }
  };

  mutable std::mutex mutex_;
  std::map<Key, uint64_t, Less> counts_;  // by protocol, path, status, model and tenant
};

// Thread-safe.
class TextMetrics {
 public:
  // Adds the time from a request to its first token.
  void AddFirst(const std::string& model, const std::string& version, std::chrono::nanoseconds took);
  // Adds the time of each later token since the one before.
  void AddNext(const std::string& model, const std::string& version, std::chrono::nanoseconds took);
  void AddTokens(const std::string& model, const std::string& version, uint64_t read, uint64_t written);

  // "" if nothing was counted. `has_aliases`: also under vLLM's names.
  std::string Text(bool has_aliases) const;

 private:
  struct Model {
    uint64_t read = 0, written = 0;
    core::Histogram first, next;
  };
  using Key = std::pair<std::string, std::string>;

  mutable std::mutex mutex_;
  std::map<Key, Model> models_;
};

struct LoadSources {
  const Workers& server;  // the threads for everything except guests and texts
  const Routes* routes;   // NULL: there are none
  const TextModels& texts;
  const MemoryBudget& budget;
  size_t http_connections, grpc_calls;
};
// `has_aliases`: the load of language models also under vLLM's names.
std::string LoadText(const LoadSources& sources, bool has_aliases);

}  // namespace wasinn::serve
