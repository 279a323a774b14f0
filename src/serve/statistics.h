// How often each model was computed, and how long its steps took, by Triton's words. Told by the host's spans.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>

#include <nlohmann/json.hpp>
#include <wasinn/wasinn.hpp>

namespace wasinn::serve {

// Any thread.
class Statistics {
 public:
  void Add(const wasinn_span& span);

  nlohmann::json All() const;
  // Of one version, or of all.
  nlohmann::json Of(const std::string& model, const std::string& version) const;

 private:
  struct Duration {
    uint64_t count = 0, ns = 0;
  };
  struct Model {
    Duration success, fail, queue, input, infer, output;
    std::chrono::system_clock::time_point last;
  };
  using Key = std::pair<std::string, uint32_t>;
  static nlohmann::json ToJson(const Key& key, const Model& model);

  mutable std::mutex mutex_;
  std::map<Key, Model, std::less<>> models_;
};

}  // namespace wasinn::serve
