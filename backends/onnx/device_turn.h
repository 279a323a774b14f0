// One thread at a time, for devices whose provider cannot have more.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>

#include "onnx/loaded_library.h"

namespace wasinn::onnx {

// All sessions with WebGPU record into one device of the OS process, and ONNX Runtime keeps their threads apart in
// nothing but the runs of one session: not when it copies an input there, nor when it frees what lies there. It crashes.
class DeviceTurn {
 public:
  explicit DeviceTurn(bool needed) {
    if (needed) lock_ = std::unique_lock(Mutex());
  }
  // Waits no longer once `cancelled` is set: then it is not there.
  explicit DeviceTurn(const std::atomic<bool>& cancelled) {
    constexpr std::chrono::milliseconds kOften(5);
    lock_ = std::unique_lock(Mutex(), std::defer_lock);
    while (!cancelled && !lock_.try_lock_for(kOften)) {
    }
    is_there_ = lock_.owns_lock();
  }

  bool is_there() const { return is_there_; }

 private:
  static std::timed_mutex& Mutex() {
    static constinit LoadedLibrary<std::timed_mutex> mutex;
    return mutex.Get();
  }

  std::unique_lock<std::timed_mutex> lock_;
  bool is_there_ = true;
};

}  // namespace wasinn::onnx
