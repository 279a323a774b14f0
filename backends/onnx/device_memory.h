// The device that computes a model: its memory, and turns on it.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "onnx/ort_library.h"
#include "onnx/session_options.h"

namespace wasinn::onnx {

// All sessions with WebGPU record into one device of the OS process, and ONNX Runtime only synchronises the runs of one
// session: not copies of inputs to the device, nor freeing memory there. It would crash.
class DeviceTurn {
 public:
  explicit DeviceTurn(bool needed) {
    if (needed) lock_ = std::unique_lock(Mutex());
  }
  // Stops waiting once `cancelled` is set: then there is no turn.
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

// All sessions of an OS process that name the same memory can read it: CUDA has one context for each device, and WebGPU
// one device for all. Immutable.
class DeviceMemory {
 public:
  // The memory of the first provider; none if that is the CPU, or if sessions may not share its memory.
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
