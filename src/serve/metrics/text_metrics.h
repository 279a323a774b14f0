// The tokens that language models read and wrote for clients of /v1, in Prometheus' text format.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "core/metrics/histogram.h"

namespace wasinn::serve {

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

}  // namespace wasinn::serve
