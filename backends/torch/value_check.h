// The values of a loaded model: weights, buffers, attributes, constants.
#ifndef WASINN_BACKENDS_TORCH_VALUE_CHECK_H_
#define WASINN_BACKENDS_TORCH_VALUE_CHECK_H_

#include <torch/csrc/jit/api/module.h>

namespace wasinn::torch {

// PyTorch takes the size of a tensor, and even of the memory under it, from the archive's pickle. Throws
// WASINN_INVALID_ENCODING where a tensor reaches beyond what was allocated for it.
void CheckTensors(const ::torch::jit::Module& module);

}  // namespace wasinn::torch

#endif  // WASINN_BACKENDS_TORCH_VALUE_CHECK_H_
