// How many requests were answered, by what they asked for and how they ended, in Prometheus' text format.
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

// The path of the protocols that a target has, with {model} for a name; "other": nothing of these. Clients make no new ones.
std::string_view PathTemplate(std::string_view target);

// Any thread.
class RequestMetrics {
 public:
  // `path`: one of few, as is `status`. A model is counted by its name if there is one: `generation`, which may be NULL, knows that.
  void Add(std::string_view protocol, std::string_view path, std::string_view status, const About& about,
           const Generation* generation);

  std::string Text() const;

 private:
  using Key = std::tuple<std::string_view, std::string, std::string, std::string, std::string>;
  // The same, looked up without a string made.
  using Look = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view, std::string_view>;
  struct Less {
    using is_transparent = void;  // NOLINT(readability-identifier-naming)
    bool operator()(const auto& a, const auto& b) const { return Look(a) < Look(b); }
  };

  mutable std::mutex mutex_;
  std::map<Key, uint64_t, Less> counts_;  // by protocol, path, status, model and tenant
};

}  // namespace wasinn::serve
