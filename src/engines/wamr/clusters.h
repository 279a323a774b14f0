// Which guest is calling: WAMR's clusters, which are a module instance and those of its threads.
#pragma once

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif
#include <wasinn/wamr.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "large_stack.h"

namespace wasinn::wamr {

class Clusters;

// Whether it imports a function that does.
bool CanSpawnThreads(wasm_module_t module);

// A call of a guest's thread, on that thread's stack.
struct Call {
  wasm_module_inst_t instance;
  Call* next;
};

// A module instance and the instances of its threads. Made at the first call, or before; goes with the instance.
struct Cluster {
  Clusters* const owner;
  const wasm_module_t module;
  wasinn_guest* const guest;
  const bool owns_guest;
  const bool exports_memory;
  void* const shared_memory;  // where it begins; NULL if the memory is not shared

  LargeStacks::Share stacks = {};
  // Not certain to have those callers alone that it should have: every call is counted, not only the long ones.
  std::atomic<bool> counts_calls{false};

  std::mutex mutex = {};              // for what follows
  std::condition_variable left = {};  // the last call of a guest that has ended
  Call* calls = nullptr;              // all that are inside and counted
  int spreads = 0;                    // how often the guest's instances are told again whose they are
  bool ended = false;                 // whoever calls is another guest
  bool in_doubt = false;              // an instance of its module has ended, and may have been its own

  // Under the mutex of Clusters: the guest, which ended while calls were inside, is being closed.
  bool closing = false;
  std::thread closer = {};
};

// Puts a call into its guest's list while it is inside.
class CallInside {
 public:
  CallInside(Cluster& cluster, wasm_module_inst_t instance);
  ~CallInside();
  CallInside(const CallInside&) = delete;
  CallInside& operator=(const CallInside&) = delete;

  // The guest had ended before: this is a call of another.
  bool is_anothers() const { return is_anothers_; }

 private:
  Cluster& cluster_;
  Call call_;
  bool is_anothers_;
};

class Clusters {
 public:
  // Guests are made of `host`, or found by `guest_of`.
  Clusters(wasinn_host* host, wasinn_wamr_guest_of guest_of, void* user)
      : host_(host), guest_of_(guest_of), user_(user) {}
  ~Clusters();
  Clusters(const Clusters&) = delete;
  Clusters& operator=(const Clusters&) = delete;

  // Once, before all else, which is only for where this succeeds.
  wasinn_status* Open();
  // The guest that an instance belongs to; makes it at its first call. NULL if there is none and none can be made.
  Cluster* Of(wasm_module_inst_t instance) {
    auto* cluster = static_cast<Cluster*>(wasm_runtime_get_context(instance, key_));
    if (cluster == nullptr) return Join(instance);
#ifdef __SANITIZE_THREAD__
    __tsan_acquire(cluster);  // it cannot see that WAMR handed this over
#endif
    return cluster;
  }
  // The same, where Of gave one that had ended.
  Cluster* Join(wasm_module_inst_t instance);
  // Tells all instances of an instance's guest that they are this one's.
  void Tell(wasm_module_inst_t instance, Cluster* cluster) const;

  LargeStacks& stacks() { return stacks_; }

 private:
  friend CallInside;
  static void Ended(wasm_module_inst_t instance, void* cluster);
  Cluster* Find(wasm_module_t module, void* shared_memory, const wasinn_guest* guest);
  wasinn_guest* NewGuest(wasm_module_inst_t instance, void* shared_memory) const;
  Cluster* Add(wasm_module_inst_t instance, wasinn_guest* guest, void* shared_memory);
  void Doubt(wasm_module_t module);
  void Remove(Cluster* cluster);
  static void Free(const Cluster& cluster);
  void Watch();
  void CloseEnded(std::unique_lock<std::mutex>& lock);
  static bool HasEnded(Cluster& cluster);

  wasinn_host* const host_;  // or
  const wasinn_wamr_guest_of guest_of_;
  void* const user_;
  void* key_ = nullptr;
  LargeStacks stacks_;
  std::atomic<uint32_t> inside_{0};  // calls that are counted; and one more at the end, for the watcher
  std::mutex mutex_;                 // for what follows
  std::condition_variable changed_;
  bool stopped_ = false;
  std::vector<std::unique_ptr<Cluster>> clusters_;
  std::vector<std::unique_ptr<Cluster>> doubted_;  // closed, but an instance may still use the guest
  std::vector<std::unique_ptr<Cluster>> husks_;    // without a guest, but an instance may still have it in mind
  const Cluster* closing_here_ = nullptr;          // on the watcher's own thread
  std::thread watcher_;
};

}  // namespace wasinn::wamr
