// What language models have read and written for clients of /v1, in Prometheus' text format.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "core/metrics/histogram.h"

namespace wasinn::serve {

// Any thread.
class TextMetrics {
 public:
  // Of a text, once its first token is there: since it was asked for.
  void AddFirst(const std::string& model, const std::string& version, std::chrono::nanoseconds took);
  // Of each token after that: since the last one.
  void AddNext(const std::string& model, const std::string& version, std::chrono::nanoseconds took);
  void AddTokens(const std::string& model, const std::string& version, uint64_t read, uint64_t written);

  // "" where nothing was counted. `has_aliases`: also by vLLM's names.
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
