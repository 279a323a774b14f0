// A model whose inferences are computed together: what a backend's graph is, over the graph of another backend.
#pragma once

#include <pthread.h>
#include <wasinn/backend.h>

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/batching/batch_queue.h"
#include "core/context.h"
#include "core/log.h"
#include "core/started_in.h"

namespace wasinn::core {

// Any thread.
class BatchedModel {
 public:
  // What it shares with others of its host; all of it outlives the model.
  struct Resources {
    BufferPool& pool;
    Watchdog& watchdog;
    Scheduler& scheduler;
    const Logger& logger;
    uint32_t threads;                         // of each compute
    Metrics& metrics;                         // where steps of a pipeline count, once for each batch
    std::chrono::milliseconds open_deadline;  // of each instance's context; 0: none
  };
  // A graph that computes on `graph`, whose options were `options`. `name` is for messages. INVALID_ARGUMENT where the
  // first dimension of an input or output is not free.
  static Result<std::shared_ptr<Graph>> Over(std::shared_ptr<Graph> graph, const Batching& batching,
                                             const std::string& name, const Graph::LoadOptions& options,
                                             const Resources& resources);
  ~BatchedModel();
  // At the end of its life.
  static void Free(BatchedModel* model);
  BatchedModel(const BatchedModel&) = delete;
  BatchedModel& operator=(const BatchedModel&) = delete;

  static BatchedModel& Of(wasinn_backend_graph* graph) { return *reinterpret_cast<BatchedModel*>(graph); }

  const std::shared_ptr<Graph>& inner() const { return inner_; }
  const Batching& batching() const { return batching_; }
  const wasinn_info& info() const { return info_; }
  const char* description() const { return description_.c_str(); }
  BatchQueue& queue() { return queue_; }
  BufferPool& pool() const { return resources_.pool; }
  uint64_t pool_user() const { return pool_user_; }
  // For batches.
  Result<std::unique_ptr<Context>> NewContext();
  // False: its outputs are not those of a model that batches, whatever its signature says; or this OS process was forked
  // off the one that has the threads.
  bool batches() const {
    return mismatches_.load(std::memory_order_relaxed) < kMostMismatches && !started_in_.is_elsewhere();
  }
  void NoteBatch(bool matches);

 private:
  BatchedModel(std::shared_ptr<Graph> graph, const Batching& batching, std::string name, const Resources& resources);
  Status Start();
  static void* Work(void* model);
  static uint32_t InstancesOf(const Batching& batching, const Resources& resources);

  // As many in a row, and it is no chance.
  static constexpr uint32_t kMostMismatches = 3;

  const std::shared_ptr<Graph> inner_;
  const Batching batching_;
  const std::string name_;
  const Resources resources_;
  const uint32_t instances_;
  wasinn_info info_{};
  std::string description_;
  std::atomic<uint32_t> mismatches_{0};
  Quota memory_;  // of batches: without a limit, for guests have been charged for each row
  const uint64_t pool_user_;
  // Batches have rows of several guests. They count as one guest's calls, so that a worker's end is not the model's doing.
  Share share_{1, UINT64_MAX};
  BatchQueue queue_;
  std::atomic<bool> stopping_{false};  // nobody waits for a context of batches any more
  std::vector<pthread_t> threads_;
  StartedIn started_in_;
};

}  // namespace wasinn::core
