// The device that computes a model: its memory, and turns at it.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "onnx/ort_library.h"
#include "onnx/session_options.h"

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
    static std::timed_mutex mutex;
    return mutex;
  }

  std::unique_lock<std::timed_mutex> lock_;
  bool is_there_ = true;
};

// All sessions of an OS process that name the same one can read it: CUDA has one context for each device, and WebGPU one
// device for all. Immutable.
class DeviceMemory {
 public:
  // That of the first provider; none if that is the CPU, or one of which we do not know that sessions share it.
  static std::optional<DeviceMemory> Of(const OrtLibrary& library, const OrtSession* session,
                                        const Providers& providers);

  // As in wasinn_info: "cuda:0".
  const char* name() const { return name_.c_str(); }
  const OrtMemoryInfo* info() const { return info_.get(); }
  bool Has(const OrtLibrary& library, const OrtValue* tensor) const;

 private:
  DeviceMemory(std::string name, OrtPtr<OrtMemoryInfo> info) : name_(std::move(name)), info_(std::move(info)) {}

  std::string name_;
  OrtPtr<OrtMemoryInfo> info_;
};

}  // namespace wasinn::onnx
