// Which guest is calling: WAMR's module instances, those of its threads too, and their wasinn processes.
#pragma once

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif
#include <wasinn/wamr.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

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
  wasinn_process* const process;
  const bool owns_process;
  const bool exports_memory;
  void* const shared_memory;  // where it begins; NULL if the memory is not shared

  bool was_found = false;  // by an instance that had no context; under the mutex of Guests

  std::mutex mutex;       // for what follows
  Call* calls = nullptr;  // all that are inside
  std::thread closer;     // closes the process of a guest that was ended while calls were inside
};

// Puts a call into its guest's list while it is inside.
class CallInside {
 public:
  CallInside(Guest& guest, wasm_module_inst_t instance);
  ~CallInside();
  CallInside(const CallInside&) = delete;
  CallInside& operator=(const CallInside&) = delete;

 private:
  Guest& guest_;
  Call call_;
};

class Guests {
 public:
  // Processes are made of `host`, or found by `process_of`.
  Guests(wasinn_host* host, wasinn_wamr_process_of process_of, void* user)
      : host_(host), process_of_(process_of), user_(user) {}
  ~Guests();
  Guests(const Guests&) = delete;
  Guests& operator=(const Guests&) = delete;

  // Whether WAMR had a key for instance contexts. Without one nothing else may be called.
  bool Open();
  // The guest that an instance belongs to; makes it at its first call. NULL if there is none and none can be made.
  Guest* Of(wasm_module_inst_t instance) {
    auto* guest = static_cast<Guest*>(wasm_runtime_get_context(instance, key_));
    if (guest == nullptr) return Join(instance);
#ifdef __SANITIZE_THREAD__
    __tsan_acquire(guest);  // it cannot see that WAMR handed this over
#endif
    return guest;
  }

 private:
  static void Ended(wasm_module_inst_t instance, void* guest);
  Guest* Join(wasm_module_inst_t instance);
  Guest* Find(void* shared_memory, const wasinn_process* process) const;
  wasinn_process* NewProcess(wasm_module_inst_t instance, void* shared_memory) const;
  Guest* Add(wasm_module_inst_t instance, wasinn_process* process, void* shared_memory);
  void Remove(Guest* guest);
  static void Free(std::unique_ptr<Guest> guest);
  void Watch();

  wasinn_host* const host_;  // or
  const wasinn_wamr_process_of process_of_;
  void* const user_;
  void* key_ = nullptr;
  std::mutex mutex_;  // for what follows
  std::condition_variable changed_;
  bool stopped_ = false;
  std::vector<std::unique_ptr<Guest>> guests_;
  std::vector<std::unique_ptr<Guest>> ended_;  // which an instance may still have in mind
  std::thread watcher_;
};

}  // namespace wasinn::wamr
