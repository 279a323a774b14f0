// What targets can be, by the execution providers of an ONNX Runtime.
#ifndef WASINN_BACKENDS_ONNX_DEVICES_H_
#define WASINN_BACKENDS_ONNX_DEVICES_H_

#include <algorithm>
#include <span>
#include <string>

namespace wasinn::onnx {

// The one provider that the targets gpu and auto use. Others are used where the configuration names them (`providers`),
// so they make no device of this machine's.
inline bool HasGpu(std::span<const std::string> providers) {
  return std::ranges::find(providers, "CUDAExecutionProvider") != providers.end();
}

inline std::string DevicesText(std::span<const std::string> providers) {
  return HasGpu(providers) ? "cpu, gpu (CUDA)" : "cpu";
}

}  // namespace wasinn::onnx

#endif  // WASINN_BACKENDS_ONNX_DEVICES_H_
