// The archive that a TorchScript model is, among PyTorch's others.
#ifndef WASINN_BACKENDS_TORCH_ARCHIVE_H_
#define WASINN_BACKENDS_TORCH_ARCHIVE_H_

#include <span>
#include <string>

namespace wasinn::torch {

// Of the names of its entries. Throws WASINN_UNSUPPORTED_OPERATION for torch.save's, torch.export's and AOTInductor's.
void CheckKind(std::span<const std::string> names);

}  // namespace wasinn::torch

#endif  // WASINN_BACKENDS_TORCH_ARCHIVE_H_
