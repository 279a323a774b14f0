// The pickles in a TorchScript archive.
#ifndef WASINN_BACKENDS_TORCH_PICKLE_SCAN_H_
#define WASINN_BACKENDS_TORCH_PICKLE_SCAN_H_

#include <cstdint>
#include <span>
#include <string>

namespace wasinn::torch {

// Goes through the instructions as PyTorch's unpickler does, without making anything. Throws WASINN_SECURITY for
// classes other than those of the archive itself and those that tensors and containers need, and for values nested so
// deeply that freeing them might exhaust a stack; WASINN_INVALID_ENCODING for what is no pickle of TorchScript's.
// `name` is for messages.
void ScanPickle(const std::string& name, std::span<const uint8_t> bytes);

}  // namespace wasinn::torch

#endif  // WASINN_BACKENDS_TORCH_PICKLE_SCAN_H_
