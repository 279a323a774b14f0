// Counts of answered requests, by path and outcome, in Prometheus' text format.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

#include "serve/about.h"

namespace wasinn::serve {

class Generation;

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

}  // namespace wasinn::serve
