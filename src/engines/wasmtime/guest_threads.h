// One run of a guest with threads (wasi-threads): a store and a host thread for each of its threads, one shared memory,
// one wasinn_guest.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "engines/engine.h"
#include "engines/wasmtime/handles.h"
#include "engines/wasmtime/store_limits.h"

namespace wasinn::wasmtime {

inline constexpr char kThreadStart[] = "wasi_thread_start";

// The module that a guest's threads run. Thread-safe.
struct ThreadedModule {
  EnginePtr engine;
  InstancePrePtr instance_pre;  // linked with the memory
  SharedMemoryPtr memory;
};

// Made for one run. Threads of the guest that cannot be ended (in a system call, or parked for good) outlive the run;
// they own this object, too, and use nothing that belongs to the caller of Run.
class GuestThreads : public std::enable_shared_from_this<GuestThreads> {
 public:
  GuestThreads(ThreadedModule module, const StoreLimits& limits, const engines::RunOptions& options);

  // Runs _start on a thread of its own, and returns when the guest has ended: when _start has returned, or any thread
  // has trapped or exited, or it was interrupted. Called once.
  engines::Exit Run();

  // wasi.thread-spawn: the new thread's number, or -1. Called on a thread of the guest.
  int32_t Spawn(int32_t argument) noexcept;

  // The caller for wasi-nn.
  wasinn_wasmtime_caller caller() const { return {guest_.get(), exports_memory_ ? &memory_ : nullptr}; }

  // True if no code of the guest should run any more.
  bool ended() const { return ended_; }

 private:
  struct Beginning;
  bool StartThread(int32_t number, int32_t argument);
  static void* RunThread(void* beginning);
  // No value: the thread returned.
  std::optional<engines::Exit> RunInStore(int32_t number, int32_t argument);
  std::optional<engines::Exit> CallGuest(wasmtime_context_t* context, int32_t number, int32_t argument);
  void SetUp(wasmtime_context_t* context);
  void End(engines::Exit exit);
  void Leave(int32_t number);
  void StopThreads();
  bool AllGone(std::chrono::milliseconds most);

  ThreadedModule module_;
  const StoreLimits limits_;
  const engines::RunOptions options_;  // a copy, because a thread may start after Run has returned; without the guest
  struct Release {
    void operator()(wasinn_guest* guest) const { wasinn_guest_release(guest); }
  };
  const std::unique_ptr<wasinn_guest, Release> guest_;  // a reference: the guest belongs to Run's caller
  wasmtime_extern_t memory_;

  std::atomic<bool> ended_{false};
  std::atomic<bool> exports_memory_{false};  // the shared one, as "memory"; known once an instance is there

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  engines::Exit exit_;         // the first one
  std::set<int32_t> threads_;  // with a store; 0 is the first
  int32_t last_number_ = 0;
};

}  // namespace wasinn::wasmtime
