#include "clusters.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <string_view>

namespace wasinn::wamr {
namespace {

constexpr std::chrono::milliseconds kWatchEvery(10);
constexpr int kSpreads = 16;

// All that are open: WAMR says that an instance has ended, and not to whom.
struct Registry {
  std::mutex mutex;
  std::vector<Clusters*> all;
};
Registry& TheRegistry() {
  static auto* registry = new Registry;  // not destroyed: an instance may end late
  return *registry;
}

// Where an instance's shared memory begins; NULL if it is not shared, or there is none.
void* SharedMemory(wasm_module_inst_t instance) {
  const wasm_memory_inst_t memory = wasm_runtime_lookup_memory(instance, "memory");
  return memory != nullptr && wasm_memory_get_shared(memory) ? wasm_memory_get_base_address(memory) : nullptr;
}

bool ExportsMemory(wasm_module_t module) {
  const int32_t count = wasm_runtime_get_export_count(module);
  for (int32_t i = 0; i < count; ++i) {
    wasm_export_t item = {};
    wasm_runtime_get_export_type(module, i, &item);
    if (item.kind == WASM_IMPORT_EXPORT_KIND_MEMORY && std::string_view(item.name) == "memory") return true;
  }
  return false;
}

}  // namespace

bool CanSpawnThreads(wasm_module_t module) {
  const int32_t count = wasm_runtime_get_import_count(module);
  for (int32_t i = 0; i < count; ++i) {
    wasm_import_t item = {};
    wasm_runtime_get_import_type(module, i, &item);
    const std::string_view name(item.name);
    if (name == "thread-spawn" || name == "pthread_create") return true;
  }
  return false;
}

CallInside::CallInside(Cluster& cluster, wasm_module_inst_t instance) : cluster_(cluster), call_{instance, nullptr} {
  bool spread = false;
  {
    const std::lock_guard lock(cluster_.mutex);
    is_anothers_ = cluster_.ended;
    if (is_anothers_) return;
    cluster_.in_doubt = false;  // it lives
    spread = cluster_.spreads > 0 && cluster_.spreads-- > 0;
    call_.next = cluster_.calls;
    cluster_.calls = &call_;
  }
  if (cluster_.owner->inside_.fetch_add(1) == 0) cluster_.owner->inside_.notify_one();
  if (spread) cluster_.owner->Tell(instance, &cluster_);
}

CallInside::~CallInside() {
  if (is_anothers_) return;
  cluster_.owner->inside_.fetch_sub(1);
  const std::lock_guard lock(cluster_.mutex);
  Call** at = &cluster_.calls;
  while (*at != &call_) at = &(*at)->next;
  *at = call_.next;
  if (cluster_.ended && cluster_.calls == nullptr) cluster_.left.notify_all();
}

wasinn_status* Clusters::Open() {
  try {
    watcher_ = std::thread(&Clusters::Watch, this);
    const std::lock_guard lock(TheRegistry().mutex);
    TheRegistry().all.push_back(this);
  } catch (const std::exception&) {
    return wasinn_status_new(WASINN_RUNTIME_ERROR, "the system gives no thread to watch guests");
  }
  key_ = wasm_runtime_create_context_key(Ended);
  if (key_ != nullptr) return nullptr;
  return wasinn_status_new(WASINN_TOO_LARGE, "WAMR has no room for another instance context");
}

Clusters::~Clusters() {
  {
    const std::lock_guard lock(TheRegistry().mutex);
    std::erase(TheRegistry().all, this);
  }
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  inside_.fetch_add(1);
  inside_.notify_one();
  if (watcher_.joinable()) watcher_.join();
  while (!clusters_.empty()) Remove(clusters_.back().get());
  for (const auto& cluster : doubted_) {
    if (cluster->closer.joinable()) cluster->closer.join();
    Free(*cluster);
  }
  if (key_ != nullptr) wasm_runtime_destroy_context_key(key_);
}

// A new thread's instance inherits its parent's context before it joins the list of those that a new context is spread
// to, so of two first calls each may find none. But the two have the same wasinn_guest, or the same memory.
Cluster* Clusters::Join(wasm_module_inst_t instance) {
  void* const shared = SharedMemory(instance);
  const std::lock_guard lock(mutex_);
  wasinn_guest* guest = guest_of_ != nullptr ? guest_of_(instance, user_) : nullptr;
  if (Cluster* known = Find(wasm_runtime_get_module(instance), shared, guest)) {
    Tell(instance, known);  // again: see Add
    return known;
  }
  if (host_ != nullptr) guest = NewGuest(instance, shared);
  return guest == nullptr || stopped_ ? nullptr : Add(instance, guest, shared);
}

// What lies at the address of a guest's memory is that guest's for certain as long as one of its calls is inside. Else
// its memory may have been freed, and another guest's have come to lie there:
//  - It ended, and WAMR has not said so yet. The caller is then taken for one of its threads, until WAMR does.
//  - It ended, and WAMR knew of no guest there (see Add). Then the guest is in doubt, and the caller is another.
Cluster* Clusters::Find(wasm_module_t module, void* shared_memory, const wasinn_guest* guest) {
  const auto at = std::ranges::find_if(clusters_, [&](const std::unique_ptr<Cluster>& cluster) {
    if (cluster->module != module) return false;
    if (guest_of_ != nullptr) return guest != nullptr && cluster->guest == guest;
    return shared_memory != nullptr && cluster->shared_memory == shared_memory;
  });
  if (at == clusters_.end()) return nullptr;
  Cluster& found = **at;
  {
    const std::lock_guard lock(found.mutex);
    if (found.calls != nullptr) return &found;
    found.counts_calls = true;
    if (!found.in_doubt) return &found;
    found.ended = true;
  }
  if (found.owns_guest) wasinn_guest_close(found.guest);
  doubted_.push_back(std::move(*at));
  clusters_.erase(at);
  return nullptr;
}

wasinn_guest* Clusters::NewGuest(wasm_module_inst_t instance, void* shared_memory) const {
  // WAMR lets a guest without shared memory have threads, each with a memory of its own. Nothing tells that they are
  // one guest, and each would get quotas of its own.
  if (shared_memory == nullptr && CanSpawnThreads(wasm_runtime_get_module(instance))) return nullptr;
  wasinn_guest* guest = nullptr;
  wasinn_status* status = wasinn_guest_new(host_, nullptr, &guest);
  wasinn_status_free(status);
  return guest;
}

Cluster* Clusters::Add(wasm_module_inst_t instance, wasinn_guest* guest, void* shared_memory) {
  const wasm_module_t module = wasm_runtime_get_module(instance);
  clusters_.emplace_back(new Cluster{.owner = this,
                                     .module = module,
                                     .guest = guest,
                                     .owns_guest = host_ != nullptr,
                                     .exports_memory = ExportsMemory(module),
                                     .shared_memory = shared_memory,
                                     .spreads = CanSpawnThreads(module) ? kSpreads : 0});
  Tell(instance, clusters_.back().get());
  return clusters_.back().get();
}

// WAMR writes this into instances whose threads may be reading it, without a lock. And it misses an instance whose
// thread is just making another one, for which that stands then: so the first calls of a guest say it again, and
// wasinn_wamr_attach comes before all that.
void Clusters::Tell(wasm_module_inst_t instance, Cluster* cluster) const {
#ifdef __SANITIZE_THREAD__
  __tsan_release(cluster);
#else
  std::atomic_thread_fence(std::memory_order_release);
#endif
  wasm_runtime_set_context_spread(instance, key_, cluster);
}

void Clusters::Ended(wasm_module_inst_t instance, void* context) {
  if (auto* cluster = static_cast<Cluster*>(context)) {
    cluster->owner->Remove(cluster);
    return;
  }
  const wasm_module_t module = wasm_runtime_get_module(instance);
  const std::lock_guard lock(TheRegistry().mutex);
  for (Clusters* clusters : TheRegistry().all) clusters->Doubt(module);
}

// An instance of this module has ended that knew of no guest. If it was a guest's nevertheless, nobody is inside.
void Clusters::Doubt(wasm_module_t module) {
  const std::lock_guard lock(mutex_);
  for (const auto& cluster : clusters_) {
    if (cluster->module != module || cluster->shared_memory == nullptr) continue;
    const std::lock_guard guest_lock(cluster->mutex);
    cluster->in_doubt = cluster->calls == nullptr;
    cluster->counts_calls = true;
  }
}

// WAMR frees the memory before it says that an instance has ended. In between another guest's memory may have come to
// lie there, which then was taken for a thread of this one: its calls are counted, and it finds out at the next that it
// is another.
void Clusters::Remove(Cluster* cluster) {
  std::unique_ptr<Cluster> removed;
  {
    std::unique_lock lock(mutex_);
    const auto husk = std::ranges::find(husks_, cluster, &std::unique_ptr<Cluster>::get);
    if (husk != husks_.end()) husks_.erase(husk);
    const auto at = std::ranges::find(clusters_, cluster, &std::unique_ptr<Cluster>::get);
    if (at == clusters_.end()) return;
    changed_.wait(lock, [&] { return closing_here_ != cluster; });
    // From here on nobody finds it.
    const auto again = std::ranges::find(clusters_, cluster, &std::unique_ptr<Cluster>::get);
    removed = std::move(*again);
    clusters_.erase(again);
  }
  if (removed->closer.joinable()) removed->closer.join();
  {
    const std::lock_guard lock(removed->mutex);
    removed->ended = true;
  }
  if (removed->owns_guest) wasinn_guest_close(removed->guest);
  {
    std::unique_lock lock(removed->mutex);
    removed->left.wait(lock, [&] { return removed->calls == nullptr; });
  }
  Free(*removed);
  if (!removed->counts_calls) return;
  const std::lock_guard lock(mutex_);
  husks_.push_back(std::move(removed));
}

void Clusters::Free(const Cluster& cluster) {
  if (cluster.owns_guest) wasinn_guest_free(cluster.guest);
}

// WAMR ends a guest by marking its instances and then waiting for its threads: whoever is inside a long call must be
// called back.
void Clusters::Watch() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    lock.unlock();
    inside_.wait(0);
    lock.lock();
    changed_.wait_for(lock, kWatchEvery, [this] { return stopped_; });
    CloseEnded(lock);
  }
}

void Clusters::CloseEnded(std::unique_lock<std::mutex>& lock) {
  for (size_t i = 0; i < clusters_.size(); ++i) {
    Cluster* cluster = clusters_[i].get();
    if (cluster->closing || !HasEnded(*cluster)) continue;
    cluster->closing = true;
    try {
      cluster->closer = std::thread(wasinn_guest_close, cluster->guest);
    } catch (const std::exception&) {  // no thread: then the others wait
      closing_here_ = cluster;
      lock.unlock();
      wasinn_guest_close(cluster->guest);
      lock.lock();
      closing_here_ = nullptr;
      changed_.notify_all();
    }
  }
}

bool Clusters::HasEnded(Cluster& cluster) {
  const std::lock_guard lock(cluster.mutex);
  for (const Call* call = cluster.calls; call != nullptr; call = call->next) {
    if (wasm_runtime_get_exception(call->instance) != nullptr) return true;
  }
  return false;
}

}  // namespace wasinn::wamr
