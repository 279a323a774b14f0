// What PyTorch runs of a model's code while it loads it, before there is a graph to look through.
#ifndef WASINN_BACKENDS_TORCH_DEFINITION_CHECK_H_
#define WASINN_BACKENDS_TORCH_DEFINITION_CHECK_H_

#include <string>
#include <string_view>

namespace wasinn::torch {

// Of one file of a guest's archive, which ScanCode has passed; PyTorch's own parser reads it. A parameter's default value,
// and a value in a class, are evaluated as they are defined: they must be literals. Throws WASINN_SECURITY.
void CheckDefinitions(const std::string& name, std::string_view text);

}  // namespace wasinn::torch

#endif  // WASINN_BACKENDS_TORCH_DEFINITION_CHECK_H_
