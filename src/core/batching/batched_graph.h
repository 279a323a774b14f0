// A model whose inferences are computed in batches, over the graph of a backend or a pipeline.
#pragma once

#include <pthread.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/batching/batch_queue.h"
#include "core/inference/context.h"
#include "core/models/graph.h"
#include "core/runtime/log.h"
#include "core/runtime/started_in.h"

namespace wasinn::core {

// Thread-safe.
class BatchedGraph final : public Graph {
 public:
  // Objects of the host that all its batched models share. They outlive the model.
  struct Shared {
    BufferPool& pool;
    Watchdog& watchdog;
    Scheduler& scheduler;
    const Logger& logger;
    uint32_t threads;                         // for each compute
    Metrics& metrics;                         // steps of a pipeline count here, once for each batch
    std::chrono::milliseconds open_deadline;  // for each instance's context; 0: none
  };
  // Makes a graph that computes on `graph`, which was loaded with `options`. `name` is for messages. INVALID_ARGUMENT:
  // the first dimension of an input or output is fixed.
  static Result<std::shared_ptr<Graph>> Over(std::shared_ptr<Graph> graph, const Batching& batching,
                                             const std::string& name, const LoadOptions& options, const Shared& shared);
  ~BatchedGraph() override;

  Result<std::unique_ptr<Session>> NewSession(std::shared_ptr<const Graph> self, const wasinn_slot_options& options,
                                              uint32_t most, const Resources& resources) const override;
  const Backend* backend() const override { return inner_->backend(); }
  const char* backend_name() const override { return inner_->backend_name(); }
  const char* description() const override { return description_.c_str(); }
  bool lost() const override { return inner_->lost(); }

  const std::shared_ptr<Graph>& inner() const { return inner_; }
  const Batching& batching() const { return batching_; }
  BatchQueue& queue() const { return queue_; }
  BufferPool& pool() const { return shared_.pool; }
  uint64_t pool_user() const { return pool_user_; }
  // A context for batches.
  Result<std::unique_ptr<Context>> NewContext();
  // False: its outputs show that it cannot batch, whatever its signature says; or this OS process was forked off the
  // one that has the threads.
  bool batches() const {
    return mismatches_.load(std::memory_order_relaxed) < kMaxMismatches && !started_in_.is_elsewhere();
  }
  void NoteBatch(bool matches);

 private:
  BatchedGraph(std::shared_ptr<Graph> graph, const Batching& batching, std::string name, const LoadOptions& options,
               const Shared& shared);
  Status Start();
  static void* Work(void* model);

  // So many in sequence are no chance.
  static constexpr uint32_t kMaxMismatches = 3;

  const std::shared_ptr<Graph> inner_;
  const Batching batching_;
  const std::string name_;
  const Shared shared_;
  const uint32_t instances_;
  const std::string description_;
  std::atomic<uint32_t> mismatches_{0};
  Quota memory_;  // of batches; without a limit, because guests were charged for each row
  const uint64_t pool_user_;
  // Batches have rows of several guests. They count as one guest's calls, so a worker's end is not the model's fault.
  Share share_{1, UINT64_MAX};
  mutable BatchQueue queue_;
  std::atomic<bool> stopping_{false};  // no thread waits for a context of batches any more
  std::vector<pthread_t> threads_;
  StartedIn started_in_;
};

}  // namespace wasinn::core
