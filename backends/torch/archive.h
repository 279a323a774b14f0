// The archive that a TorchScript model is, among PyTorch's others.
#pragma once

#include <span>
#include <string>

namespace wasinn::torch {

// Of the names of its entries. Throws WASINN_UNSUPPORTED_OPERATION for torch.save's, torch.export's and AOTInductor's.
void CheckKind(std::span<const std::string> names);

}  // namespace wasinn::torch
