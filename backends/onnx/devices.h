// What targets can be, by the execution providers of an ONNX Runtime.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

namespace wasinn::onnx {

// Providers, as configurations name them.
inline constexpr char kCpu[] = "cpu";
inline constexpr char kCuda[] = "cuda";
inline constexpr char kTensorRt[] = "tensorrt";
inline constexpr char kWebGpu[] = "webgpu";

// ONNX Runtime takes its own two names, too.
inline bool IsWebGpu(std::string_view provider) {
  return provider == kWebGpu || provider == "WebGPU" || provider == "WebGpuExecutionProvider";
}

inline bool HasProvider(std::span<const std::string> providers, const char* name) {
  return std::ranges::find(providers, name) != providers.end();
}

// The one that the targets gpu and auto use; NULL: there is none. Others are used where the configuration names them
// (`providers`), so they make no device of this machine's.
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
