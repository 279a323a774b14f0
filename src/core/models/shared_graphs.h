// Models that came as bytes: guests with the same bytes share one graph.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "core/models/blob.h"
#include "core/models/graph.h"
#include "core/models/single_flight.h"

namespace wasinn::core {

// Graphs of the guests that may share. Thread-safe.
class SharedGraphs {
 public:
  // Two loads with the same key give the same graph.
  static std::string KeyOf(std::span<const std::shared_ptr<const Blob>> parts, const Graph::LoadOptions& options);

  struct Shared {
    std::shared_ptr<Graph> graph;
    bool made;  // by this call
  };
  using Load = std::function<Result<std::shared_ptr<Graph>>()>;
  // The graph of this key, if it is in use; else the result of `load`. Waits while another caller loads it. A failure
  // is only for the caller that loaded.
  Result<Shared> Get(const std::string& key, const WaitOptions& wait, const Load& load);

 private:
  using Made = SingleFlight<std::weak_ptr<Graph>>;
  std::shared_ptr<Made> Find(const std::string& key);
  void Forget();
  static void ForgetGone(Made& made);

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Made>> graphs_;
  size_t look_at_ = 16;  // at this size, unused graphs are forgotten
};

}  // namespace wasinn::core
