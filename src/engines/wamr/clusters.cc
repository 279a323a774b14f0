#include "clusters.h"

#include <wasinn/engine.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace wasinn::wamr {
namespace {

constexpr int kSpreads = 16;

// The beginning of an instance's shared memory; NULL if it is not shared, or there is none.
void* SharedMemory(wasm_module_inst_t instance) {
  const wasm_memory_inst_t memory = wasm_runtime_lookup_memory(instance, WASINN_MEMORY_NAME);
  return memory != nullptr && wasm_memory_get_shared(memory) ? wasm_memory_get_base_address(memory) : nullptr;
}

bool ExportsMemory(wasm_module_t module) {
  for (int32_t i = wasm_runtime_get_export_count(module); i-- > 0;) {
    wasm_export_t item = {};
    wasm_runtime_get_export_type(module, i, &item);
    if (item.kind == WASM_IMPORT_EXPORT_KIND_MEMORY && std::string_view(item.name) == WASINN_MEMORY_NAME) return true;
  }
  return false;
}

bool IsInside(const wasinn_guest* guest) {
  wasinn_statistics stats = {};
  stats.struct_size = sizeof stats;
  wasinn_status_free(wasinn_guest_statistics(guest, &stats));  // NULL: its struct_size is set
  return stats.inside != 0;
}

}  // namespace

bool CanSpawnThreads(wasm_module_t module) {
  for (int32_t i = wasm_runtime_get_import_count(module); i-- > 0;) {
    wasm_import_t item = {};
    wasm_runtime_get_import_type(module, i, &item);
    const std::string_view name(item.name);
    if (name == "thread-spawn" || name == "pthread_create") return true;
  }
  return false;
}

std::atomic<uint32_t>& UnknownEnds(wasm_module_t module) {
  static std::array<std::atomic<uint32_t>, 256> counts = {};
  return counts[(reinterpret_cast<uintptr_t>(module) >> 4) % counts.size()];
}

wasinn_status* Clusters::Open() {
  key_ = wasm_runtime_create_context_key([](wasm_module_inst_t instance, void* context) {
    auto* const cluster = static_cast<Cluster*>(context);
    if (cluster != nullptr && !cluster->ended) return cluster->owner->Remove(*cluster);
    ++UnknownEnds(wasm_runtime_get_module(instance));
  });
  if (key_ != nullptr) return nullptr;
  return wasinn_status_new(WASINN_ERROR_TOO_LARGE, "WAMR has no room for another instance context");
}

Clusters::~Clusters() {
  for (const auto& cluster : clusters_) End(*cluster);
  if (key_ != nullptr) wasm_runtime_destroy_context_key(key_);
}

// A new thread's instance inherits its parent's context before it joins the list to which a new context is spread, so
// both of two first calls may find no context. But the two have the same wasinn_guest, or the same memory.
Cluster* Clusters::Join(wasm_module_inst_t instance) {
  void* const shared = SharedMemory(instance);
  const std::lock_guard lock(mutex_);
  wasinn_guest* const guest = guest_of_ != nullptr ? guest_of_(instance, user_) : nullptr;
  Cluster* cluster = Find(wasm_runtime_get_module(instance), shared, guest);
  if (cluster == nullptr) cluster = Add(instance, shared, guest);
  if (cluster != nullptr) wasm_runtime_set_context_spread(instance, key_, cluster);
  return cluster;
}

// While one of a guest's calls is inside, the memory at its address is certainly the guest's. Else the memory may have
// been freed, and another guest may have got the address. Then the guest has ended, and either WAMR has not reported it
// yet (the caller is taken for one of its threads until then), or WAMR did not know the guest (see SpreadAgain; the
// caller is taken for another guest).
Cluster* Clusters::Find(wasm_module_t module, void* shared_memory, const wasinn_guest* guest) {
  for (const std::unique_ptr<Cluster>& known : clusters_) {
    if (known->module != module || known->ended) continue;
    if (guest_of_ != nullptr ? known->guest != guest : known->shared_memory != shared_memory) continue;
    if (guest_of_ == nullptr && shared_memory == nullptr) continue;
    if (guest_of_ != nullptr || IsInside(known->guest)) return known.get();
    known->found_by_place = true;
    if (known->lived_at == UnknownEnds(module)) return known.get();
    End(*known);
  }
  return nullptr;
}

// WAMR lets a guest without shared memory have threads, each with a memory of its own. They cannot be recognised as one
// guest, and each would get quotas of its own.
Cluster* Clusters::Add(wasm_module_inst_t instance, void* shared_memory, wasinn_guest* guest) {
  const wasm_module_t module = wasm_runtime_get_module(instance);
  const bool has_threads = CanSpawnThreads(module);
  if (host_ != nullptr && (shared_memory != nullptr || !has_threads)) {
    wasinn_status_free(wasinn_guest_new(host_, nullptr, &guest));
  }
  if (guest == nullptr) return nullptr;
  clusters_.emplace_back(new Cluster{.owner = this,
                                     .module = module,
                                     .guest = wasinn_guest_retain(guest),
                                     .exports_memory = ExportsMemory(module),
                                     .shared_memory = shared_memory,
                                     .spreads = has_threads ? kSpreads : 0});
  clusters_.back()->ended = false;  // readers without the lock read this first, and then see the rest
  return clusters_.back().get();
}

// WAMR sets the context in all instances of a guest by writing to them without a lock, while their threads may be
// reading it. And it misses an instance whose thread is just making another one, to which this one's context goes. So
// the first calls of a guest repeat it, and wasinn_wamr_attach comes before all of them.
void Clusters::SpreadAgain(wasm_module_inst_t instance, Cluster& cluster) {
  const std::lock_guard lock(mutex_);
  if (!cluster.ended && cluster.spreads-- > 0) wasm_runtime_set_context_spread(instance, key_, &cluster);
}

// WAMR frees the memory before it reports the end of an instance. In between, another guest may get memory at that
// address, and is taken for a thread of this guest: its next call is refused, and finds out that it is another guest.
void Clusters::Remove(Cluster& cluster) {
  End(cluster);
  const std::lock_guard lock(mutex_);
  if (cluster.found_by_place) return;
  std::erase_if(clusters_, [&cluster](const std::unique_ptr<Cluster>& known) { return known.get() == &cluster; });
}

// From here on no look-up finds it.
void Clusters::End(Cluster& cluster) const {
  if (!cluster.ended.exchange(true) && host_ != nullptr) wasinn_guest_free(cluster.guest);
}

}  // namespace wasinn::wamr
