#include "guests.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string_view>

namespace wasinn::wamr {
namespace {

constexpr std::chrono::milliseconds kWatchEvery(10);

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

CallInside::CallInside(Guest& guest, wasm_module_inst_t instance) : guest_(guest), call_{instance, nullptr} {
  const std::lock_guard lock(guest_.mutex);
  call_.next = guest_.calls;
  guest_.calls = &call_;
}

CallInside::~CallInside() {
  const std::lock_guard lock(guest_.mutex);
  Call** at = &guest_.calls;
  while (*at != &call_) at = &(*at)->next;
  *at = call_.next;
}

bool Guests::Open() {
  key_ = wasm_runtime_create_context_key(Ended);
  return key_ != nullptr;
}

Guests::~Guests() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (watcher_.joinable()) watcher_.join();
  while (!guests_.empty()) Remove(guests_.back().get());
  for (auto& guest : ended_) Free(std::move(guest));
  if (key_ != nullptr) wasm_runtime_destroy_context_key(key_);
}

// A new thread's instance inherits its parent's context before it joins the list of those that a new context is spread
// to, so of two first calls each may find none. But the two have the same process, or the same memory.
Guest* Guests::Join(wasm_module_inst_t instance) {
  void* const shared = SharedMemory(instance);
  const std::lock_guard lock(mutex_);
  wasinn_process* process = process_of_ != nullptr ? process_of_(instance, user_) : nullptr;
  if (Guest* known = Find(shared, process)) {
    known->was_found = true;
    wasm_runtime_set_context_spread(instance, key_, known);  // again: see Add
    return known;
  }
  if (host_ != nullptr) process = NewProcess(instance, shared);
  return process == nullptr || stopped_ ? nullptr : Add(instance, process, shared);
}

Guest* Guests::Find(void* shared_memory, const wasinn_process* process) const {
  for (const auto& guest : guests_) {
    if (process != nullptr && guest->process == process) return guest.get();
    if (process_of_ == nullptr && shared_memory != nullptr && guest->shared_memory == shared_memory) return guest.get();
  }
  return nullptr;
}

wasinn_process* Guests::NewProcess(wasm_module_inst_t instance, void* shared_memory) const {
  // WAMR lets a guest without shared memory have threads, each with a memory of its own. Nothing tells that they are
  // one guest, and each would get quotas of its own.
  if (shared_memory == nullptr && CanSpawnThreads(wasm_runtime_get_module(instance))) return nullptr;
  wasinn_process* process = nullptr;
  wasinn_status* status = wasinn_process_new(host_, nullptr, &process);
  wasinn_status_free(status);
  return process;
}

Guest* Guests::Add(wasm_module_inst_t instance, wasinn_process* process, void* shared_memory) {
  const bool exports_memory = ExportsMemory(wasm_runtime_get_module(instance));
  guests_.emplace_back(new Guest{.owner = this,
                                 .process = process,
                                 .owns_process = host_ != nullptr,
                                 .exports_memory = exports_memory,
                                 .shared_memory = shared_memory});
  Guest* guest = guests_.back().get();
  // WAMR writes this into instances whose threads may be reading it, without a lock. And it misses an instance whose
  // thread is just making another one, for which that stands then; wasinn_wamr_attach comes before all that.
#ifdef __SANITIZE_THREAD__
  __tsan_release(guest);
#else
  std::atomic_thread_fence(std::memory_order_release);
#endif
  wasm_runtime_set_context_spread(instance, key_, guest);
  if (!watcher_.joinable()) watcher_ = std::thread(&Guests::Watch, this);
  changed_.notify_all();
  return guest;
}

void Guests::Ended(wasm_module_inst_t, void* context) {
  if (auto* guest = static_cast<Guest*>(context)) guest->owner->Remove(guest);
}

// WAMR frees the memory before it says that an instance has ended. In between another guest's memory may have come to
// lie there, which then was taken for a thread of this one: it must find a closed process, and not a freed one.
void Guests::Remove(Guest* guest) {
  std::unique_ptr<Guest> removed;
  {
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find(guests_, guest, &std::unique_ptr<Guest>::get);
    if (at == guests_.end()) return;
    removed = std::move(*at);
    guests_.erase(at);
  }
  if (removed->closer.joinable()) removed->closer.join();
  if (removed->owns_process) wasinn_process_close(removed->process);
  if (removed->was_found) {
    const std::lock_guard lock(mutex_);
    ended_.push_back(std::move(removed));
  } else {
    Free(std::move(removed));
  }
}

void Guests::Free(std::unique_ptr<Guest> guest) {
  if (guest->owns_process) wasinn_process_free(guest->process);
}

// WAMR ends a guest by marking its instances and then waiting for its threads: whoever is inside a long call must be
// called back.
void Guests::Watch() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (guests_.empty()) {
      changed_.wait(lock);
      continue;
    }
    changed_.wait_for(lock, kWatchEvery);
    for (const auto& guest : guests_) {
      const std::lock_guard guest_lock(guest->mutex);
      bool ended = false;
      for (const Call* call = guest->calls; call != nullptr && !ended; call = call->next) {
        ended = wasm_runtime_get_exception(call->instance) != nullptr;
      }
      if (ended && !guest->closer.joinable()) guest->closer = std::thread(wasinn_process_close, guest->process);
    }
  }
}

}  // namespace wasinn::wamr
