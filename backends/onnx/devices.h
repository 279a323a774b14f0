// The devices for targets, by the execution providers of an ONNX Runtime.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

namespace wasinn::onnx {

// Names of providers in configurations.
inline constexpr char kCpu[] = "cpu";
inline constexpr char kCuda[] = "cuda";
inline constexpr char kTensorRt[] = "tensorrt";
inline constexpr char kWebGpu[] = "webgpu";

// ONNX Runtime accepts its own two names, too.
inline bool IsWebGpu(std::string_view provider) {
  return provider == kWebGpu || provider == "WebGPU" || provider == "WebGpuExecutionProvider";
}

inline bool HasProvider(std::span<const std::string> providers, const char* name) {
  return std::ranges::find(providers, name) != providers.end();
}

// The provider for the targets gpu and auto; NULL: there is none. Others are only used if the configuration names them
// (`providers`), so they do not count as devices of this machine.
inline const char* GpuProvider(std::span<const std::string> providers) {
  if (HasProvider(providers, "CUDAExecutionProvider")) return kCuda;
  return HasProvider(providers, "WebGpuExecutionProvider") ? kWebGpu : nullptr;
}

inline std::string DevicesText(std::span<const std::string> providers) {
  const char* const gpu = GpuProvider(providers);
  if (gpu == nullptr) return "cpu";
  return gpu == kCuda ? "cpu, gpu (CUDA)" : "cpu, gpu (WebGPU)";
}

}  // namespace wasinn::onnx
