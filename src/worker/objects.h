// A worker's graphs and slots, by their host's numbers.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "core/isolation/protocol.h"
#include "core/isolation/segment.h"
#include "core/memory/quota.h"
#include "core/models/backend.h"

namespace wasinn::worker {

// A call that a host may interrupt, by the contract of `cancel`: only while it is inside, one cancel at a time.
class Gate {
 public:
  // One call of the backend; `turn` is its number.
  class Inside {
   public:
    Inside(Gate& gate, uint64_t turn) : gate_(gate) { gate_.Enter(turn); }
    ~Inside() { gate_.Enter(0); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Gate& gate_;
  };

  // `cancel` is called if the call of this number is inside.
  template <typename Cancel>
  void Interrupt(uint64_t turn, Cancel&& cancel) {
    const std::lock_guard lock(mutex_);
    if (turn == turn_) cancel();
  }
  // on_cancel of backend.h, whose token is a Gate.
  static void Register(void* gate, void (*cancel)(void*), void* arg);
  void InterruptRegistered();

 private:
  void Enter(uint64_t turn) {
    const std::lock_guard lock(mutex_);
    turn_ = turn;
  }

  std::mutex mutex_;
  uint64_t turn_ = 0;
  void (*cancel_)(void*) = nullptr;
  void* arg_ = nullptr;
};

// A model's bytes, in a segment. It is freed when neither the load nor the backend needs it.
class Part {
 public:
  // Has one reference, which the caller releases.
  static wasinn_builder* Make(isolation::Segment segment, size_t bytes);
  static void Release(void* part);

 private:
  Part(isolation::Segment segment, size_t bytes);
  static void Retain(void* part);

  std::atomic<uint32_t> references_{1};
  const isolation::Segment segment_;
  wasinn_builder blob_;
};

template <typename T>
class Objects {
 public:
  void Add(uint32_t number, std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    objects_[number] = std::move(object);
  }
  std::shared_ptr<T> Find(uint32_t number) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(number);
    return found == objects_.end() ? nullptr : found->second;
  }
  std::shared_ptr<T> Remove(uint32_t number) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(number);
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

 private:
  mutable std::mutex mutex_;
  std::map<uint32_t, std::shared_ptr<T>> objects_;
};

struct Graph {
  Graph(core::Backend& its_backend, uint64_t most_bytes)
      : backend(its_backend), account("bytes besides a model", "limits.max_model_bytes", most_bytes) {}
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  core::Backend& backend;
  core::Quota account;
  Gate gate;
  wasinn_backend_graph* graph = nullptr;
  Objects<isolation::Segment> shared;  // memory for inputs
  wasinn_info info{};
};

}  // namespace wasinn::worker
