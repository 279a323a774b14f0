// Models that came as bytes: guests that bring the same share one graph.
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

// Of those who may share. Any thread.
class SharedGraphs {
 public:
  // What two loads must have in common to give the same graph.
  static std::string KeyOf(std::span<const std::shared_ptr<const Blob>> parts, const Graph::LoadOptions& options);

  struct Shared {
    std::shared_ptr<Graph> graph;
    bool made;  // by this call
  };
  using Load = std::function<Result<std::shared_ptr<Graph>>()>;
  // The graph of this key that somebody has, else what `load` gives. While another one loads it, this waits; a failure is
  // who loaded's alone.
  Result<Shared> Get(const std::string& key, const WaitOptions& wait, const Load& load);

 private:
  using Made = SingleFlight<std::weak_ptr<Graph>>;
  std::shared_ptr<Made> Find(const std::string& key);
  void Forget();
  static void ForgetGone(Made& made);

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Made>> graphs_;
  size_t look_at_ = 16;  // as many are there: then those that nobody has are forgotten
};

}  // namespace wasinn::core
