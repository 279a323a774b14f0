// Memory of the device that computes a model.
#pragma once

#include <optional>
#include <string>

#include "onnx/ort_library.h"
#include "onnx/session_options.h"

namespace wasinn::onnx {

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
