// Which guest is calling: WAMR's clusters, which are a module instance and those of its threads. An embedder attaches
// them or finds them by guest_of. Where it does neither (iwasm knows nothing of us) a guest begins at its first call,
// and what else calls is known by the place of its memory.
#pragma once

#include <wasinn/wamr.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace wasinn::wamr {

class Clusters;

// Whether it imports a function that does.
bool CanSpawnThreads(wasm_module_t module);

// How many instances of a module have ended of which WAMR did not say whose they were. Modules may share a count.
std::atomic<uint32_t>& UnknownEnds(wasm_module_t module);

// A module instance and the instances of its threads. Made at the first call, or before; goes with the instance.
struct Cluster {
  ~Cluster() { wasinn_guest_release(guest); }
  // None of the unknown ends was this one's. Written only if it changes: a store that all threads see in order costs as
  // much as a lock.
  void Lives() {
    const uint32_t ends = UnknownEnds(module).load();
    if (lived_at.load() != ends) lived_at.store(ends);
  }

  Clusters* const owner;
  const wasm_module_t module;
  wasinn_guest* const guest;  // a reference: who takes this for its own may be another, which calls later
  const bool exports_memory;
  void* const shared_memory;  // where it begins; NULL if the memory is not shared
  std::atomic<int> spreads;   // how often the guest's instances are told again whose they are
  std::atomic<uint32_t> lived_at{UnknownEnds(module).load()};
  std::atomic<bool> ended{false};  // whoever calls is another guest
  bool found_by_place = false;     // so another may have it in mind; of Clusters' mutex
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
    if (cluster == nullptr || cluster->ended) return Join(instance);
    cluster->Lives();
    if (cluster->spreads > 0) TellAgain(instance, *cluster);
    return cluster;
  }

 private:
  Cluster* Join(wasm_module_inst_t instance);
  Cluster* Find(wasm_module_t module, void* shared_memory, const wasinn_guest* guest);
  Cluster* Add(wasm_module_inst_t instance, void* shared_memory, wasinn_guest* guest);
  void TellAgain(wasm_module_inst_t instance, Cluster& cluster);
  void Remove(Cluster& cluster);
  void End(Cluster& cluster) const;

  wasinn_host* const host_;  // or
  const wasinn_wamr_guest_of guest_of_;
  void* const user_;
  void* key_ = nullptr;
  std::mutex mutex_;                                // for what follows, and for telling
  std::vector<std::unique_ptr<Cluster>> clusters_;  // some have ended
};

}  // namespace wasinn::wamr
