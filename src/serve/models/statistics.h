// Counts and times of each model's computes, in Triton's words, from the host's spans.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>
#include <wasinn/wasinn.hpp>

#include "core/metrics/histogram.h"

namespace wasinn::serve {

// Thread-safe.
class Statistics {
 public:
  void Add(const wasinn_span& span);
  // Adds an inference of a guest that is a model, for which the host has no spans.
  void Add(const std::string& guest, bool succeeded, std::chrono::nanoseconds took);

  // For models that `sees` accepts.
  nlohmann::json All(const std::function<bool(const std::string& model)>& sees) const;
  // For one version, or all. `highest`: the highest version, which is listed if there were no computes.
  nlohmann::json Of(const std::string& model, const std::string& version, const std::string& highest) const;

  struct Seen {
    uint64_t succeeded = 0, failed = 0;
    core::Histogram::Sum latencies;  // of successful ones
  };
  Seen Look(const std::string& model, uint32_t version) const;
  // When its last inference ended; the epoch: it had none.
  std::chrono::system_clock::time_point Last(const std::string& model, uint32_t version) const;

 private:
  struct Duration {
    uint64_t count = 0, ns = 0;
  };
  struct Model {
    Duration success, fail, queue, input, infer, output;
    std::chrono::system_clock::time_point last;
    core::Histogram latencies;  // of successes
  };
  using Key = std::pair<std::string, uint32_t>;
  // Looks names up without making strings.
  struct ByKey {
    using is_transparent = void;  // NOLINT(readability-identifier-naming)
    bool operator()(const auto& a, const auto& b) const {
      return std::tuple<std::string_view, uint32_t>(a.first, a.second) <
             std::tuple<std::string_view, uint32_t>(b.first, b.second);
    }
  };
  Model& Find(const wasinn_span& span);  // needs `mutex_`
  static nlohmann::json ToJson(const Key& key, const Model& model);

  mutable std::mutex mutex_;
  std::map<Key, Model, ByKey> models_;
};

}  // namespace wasinn::serve
