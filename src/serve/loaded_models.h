// Which models stay loaded: no more than so many, and none that nobody has asked for in so long a time.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include <wasinn/wasinn.hpp>

#include "serve/inference.h"

namespace wasinn::serve {

// Any thread. The host outlives it.
class LoadedModels {
 public:
  using Clock = std::chrono::system_clock;
  struct Options {
    size_t most = 0;                    // 0: any number
    std::chrono::milliseconds idle{0};  // 0: for ever
    std::set<std::string> keeps;        // these are preloaded, and stay
    bool keeps_all = false;
    std::function<Clock::time_point(const ModelInfo&)> last_inference;
    std::function<bool(const ModelInfo&)> is_in_use;
    std::function<void(const ModelInfo&)> unload;
  };
  LoadedModels(const Host& host, Options options) : host_(host), options_(std::move(options)) {}

  // Before `model` is loaded, until which it counts. BUSY: all that are loaded have requests, or stay.
  Outcome<void> MakeRoom(const ModelInfo& model);
  // It is loaded, or has failed.
  void Done(const ModelInfo& model);
  // To be called now and then: unloads those that rest for too long.
  void Sweep();

 private:
  using Key = std::pair<std::string, uint32_t>;
  // All that may go, by when they were asked for last; of `mutex_`. How many are loaded, but for `but`.
  std::multimap<Clock::time_point, ModelInfo> Resting(const Key& but, size_t& n_loaded);

  const Host& host_;
  const Options options_;
  std::mutex mutex_;                        // of what follows
  std::map<Key, Clock::time_point> since_;  // when a model was loaded, or first seen so
  std::multiset<Key> loading_;
};

}  // namespace wasinn::serve
