// Which guest is calling: WAMR's module instances, those of its threads too, and their wasinn processes.
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

class Guests;

// Whether it imports a function that does.
bool CanSpawnThreads(wasm_module_t module);

// A call of a guest's thread, on that thread's stack.
struct Call {
  wasm_module_inst_t instance;
  Call* next;
};

// A module instance and the instances of its threads. Made at the first call, or before; goes with the instance.
struct Guest {
  Guests* const owner;
  const wasm_module_t module;
  wasinn_process* const process;
  const bool owns_process;
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

  // Under the mutex of Guests: the process of a guest that was ended while calls were inside is being closed.
  bool closing = false;
  std::thread closer = {};
};

// Puts a call into its guest's list while it is inside.
class CallInside {
 public:
  CallInside(Guest& guest, wasm_module_inst_t instance);
  ~CallInside();
  CallInside(const CallInside&) = delete;
  CallInside& operator=(const CallInside&) = delete;

  // The guest had ended before: this is a call of another.
  bool is_anothers() const { return is_anothers_; }

 private:
  Guest& guest_;
  Call call_;
  bool is_anothers_;
};

class Guests {
 public:
  // Processes are made of `host`, or found by `process_of`.
  Guests(wasinn_host* host, wasinn_wamr_process_of process_of, void* user)
      : host_(host), process_of_(process_of), user_(user) {}
  ~Guests();
  Guests(const Guests&) = delete;
  Guests& operator=(const Guests&) = delete;

  // Once, before all else, which is only for where this succeeds.
  wasinn_status* Open();
  // The guest that an instance belongs to; makes it at its first call. NULL if there is none and none can be made.
  Guest* Of(wasm_module_inst_t instance) {
    auto* guest = static_cast<Guest*>(wasm_runtime_get_context(instance, key_));
    if (guest == nullptr) return Join(instance);
#ifdef __SANITIZE_THREAD__
    __tsan_acquire(guest);  // it cannot see that WAMR handed this over
#endif
    return guest;
  }
  // The same, where Of gave one that had ended.
  Guest* Join(wasm_module_inst_t instance);
  // Tells all instances of an instance's guest that they are this one's.
  void Tell(wasm_module_inst_t instance, Guest* guest) const;

  LargeStacks& stacks() { return stacks_; }

 private:
  friend CallInside;
  static void Ended(wasm_module_inst_t instance, void* guest);
  Guest* Find(wasm_module_t module, void* shared_memory, const wasinn_process* process);
  wasinn_process* NewProcess(wasm_module_inst_t instance, void* shared_memory) const;
  Guest* Add(wasm_module_inst_t instance, wasinn_process* process, void* shared_memory);
  void Doubt(wasm_module_t module);
  void Remove(Guest* guest);
  static void Free(const Guest& guest);
  void Watch();
  void CloseEnded(std::unique_lock<std::mutex>& lock);
  static bool HasEnded(Guest& guest);

  wasinn_host* const host_;  // or
  const wasinn_wamr_process_of process_of_;
  void* const user_;
  void* key_ = nullptr;
  LargeStacks stacks_;
  std::atomic<uint32_t> inside_{0};  // calls that are counted; and one more at the end, for the watcher
  std::mutex mutex_;                 // for what follows
  std::condition_variable changed_;
  bool stopped_ = false;
  std::vector<std::unique_ptr<Guest>> guests_;
  std::vector<std::unique_ptr<Guest>> doubted_;  // closed, but an instance may still use the process
  std::vector<std::unique_ptr<Guest>> husks_;    // without a process, but an instance may still have it in mind
  const Guest* closing_here_ = nullptr;          // on the watcher's own thread
  std::thread watcher_;
};

}  // namespace wasinn::wamr
