// The source text in a TorchScript archive.
#ifndef WASINN_BACKENDS_TORCH_CODE_SCAN_H_
#define WASINN_BACKENDS_TORCH_CODE_SCAN_H_

#include <string>
#include <string_view>

namespace wasinn::torch {

// Throws WASINN_SECURITY for code that runs while a model is loaded, and for statements so long or so deep that
// PyTorch's recursive parser might exhaust a stack of kParserStack bytes. `name` is for messages.
void ScanCode(const std::string& name, std::string_view text);

inline constexpr size_t kParserStack = size_t{1} << 30;

}  // namespace wasinn::torch

#endif  // WASINN_BACKENDS_TORCH_CODE_SCAN_H_
