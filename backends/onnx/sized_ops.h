// Operators whose outputs' sizes ONNX Runtime knows before it computes them.
#ifndef WASINN_BACKENDS_ONNX_SIZED_OPS_H_
#define WASINN_BACKENDS_ONNX_SIZED_OPS_H_

#include <cstdint>
#include <string_view>

namespace wasinn::onnx {

// Older operator sets have operators without shape inference.
inline constexpr uint64_t kOldestSizedOpset = 7;

// When a model is loaded, ONNX Runtime computes what is constant, in memory that we cannot limit. It has a limit of its
// own on each result, which it checks beforehand where shape inference tells the size, and else when the memory has
// been used. So a guest's model gets constant folding only if every operator in it is one of these: they have shape
// inference, and with constant inputs it leaves no dimension open. (Control flow is never folded itself.)
bool IsSizedOp(std::string_view op_type);

}  // namespace wasinn::onnx

#endif  // WASINN_BACKENDS_ONNX_SIZED_OPS_H_
