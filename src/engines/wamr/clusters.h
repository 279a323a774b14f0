// Finds the guest that makes a call: a WAMR cluster, which is a module instance and those of its threads. An embedder
// attaches clusters or finds them by guest_of. Without either (iwasm does not know wasinn), a guest begins at its first
// call, and its other instances are recognised by the address of their memory.
#pragma once

#include <wasinn/wamr.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace wasinn::wamr {

class Clusters;

// Whether it imports such a function.
bool CanSpawnThreads(wasm_module_t module);

// The number of ended instances of a module whose guest WAMR did not report. Modules may share a count.
std::atomic<uint32_t>& UnknownEnds(wasm_module_t module);

// A module instance and the instances of its threads. Made at the first call, or before; freed with the instance.
struct Cluster {
  ~Cluster() { wasinn_guest_release(guest); }
  // None of the unknown ends was this one's. Written only on a change: a store that all threads see in order costs as
  // much as a lock.
  void Lives() {
    const uint32_t ends = UnknownEnds(module).load();
    if (lived_at.load() != ends) lived_at.store(ends);
  }

  Clusters* const owner;
  const wasm_module_t module;
  wasinn_guest* const guest;  // a reference: another guest may take this for its own, and call later
  const bool exports_memory;
  void* const shared_memory;  // its beginning; NULL if the memory is not shared
  std::atomic<int> spreads;   // how often the context is still set again in the guest's instances
  std::atomic<uint32_t> lived_at{UnknownEnds(module).load()};
  std::atomic<bool> ended{false};  // a caller is another guest
  bool found_by_place = false;     // so another guest may use it; guarded by Clusters' mutex
};

class Clusters {
 public:
  // Guests are made in `host`, or found by `guest_of`.
  Clusters(wasinn_host* host, wasinn_wamr_guest_of guest_of, void* user)
      : host_(host), guest_of_(guest_of), user_(user) {}
  ~Clusters();
  Clusters(const Clusters&) = delete;
  Clusters& operator=(const Clusters&) = delete;

  // Call it once, first. The other functions may only be called if it succeeds.
  wasinn_status* Open();
  // The guest of an instance, made at its first call. NULL if there is none and none can be made.
  Cluster* Of(wasm_module_inst_t instance) {
    auto* cluster = static_cast<Cluster*>(wasm_runtime_get_context(instance, key_));
    if (cluster == nullptr || cluster->ended) return Join(instance);
    cluster->Lives();
    if (cluster->spreads > 0) SpreadAgain(instance, *cluster);
    return cluster;
  }

 private:
  Cluster* Join(wasm_module_inst_t instance);
  Cluster* Find(wasm_module_t module, void* shared_memory, const wasinn_guest* guest);
  Cluster* Add(wasm_module_inst_t instance, void* shared_memory, wasinn_guest* guest);
  void SpreadAgain(wasm_module_inst_t instance, Cluster& cluster);
  void Remove(Cluster& cluster);
  void End(Cluster& cluster) const;

  wasinn_host* const host_;  // or
  const wasinn_wamr_guest_of guest_of_;
  void* const user_;
  void* key_ = nullptr;
  std::mutex mutex_;                                // for the members below, and for spreading contexts
  std::vector<std::unique_ptr<Cluster>> clusters_;  // including ended ones
};

}  // namespace wasinn::wamr
