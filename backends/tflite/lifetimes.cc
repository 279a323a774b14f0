#include "tflite/lifetimes.h"

#include <algorithm>

namespace wasinn::tflite {

bool IsConstant(const schema::Tensor& tensor, const Tables<schema::Buffer>* buffers) {
  if (tensor.buffer() >= SizeOf(buffers)) return false;
  const schema::Buffer& buffer = *buffers->Get(tensor.buffer());
  return SizeOf(buffer.data()) > 0 || buffer.size() > 0;
}

std::vector<Lifetime> LivesOf(const schema::SubGraph& graph, const Tables<schema::Buffer>* buffers) {
  const uint32_t tensors = SizeOf(graph.tensors()), operators = SizeOf(graph.operators());
  std::vector<Lifetime> lives(tensors);
  std::vector<bool> lasts(tensors);
  for (uint32_t i = 0; i < tensors; ++i) lasts[i] = IsConstant(*graph.tensors()->Get(i), buffers);
  const auto each = [tensors](const Numbers* indices, const auto& visit) {
    for (const int32_t tensor : SpanOf(indices)) {
      if (tensor >= 0 && static_cast<uint32_t>(tensor) < tensors) visit(static_cast<uint32_t>(tensor));
    }
  };
  for (uint32_t op = 0; op < operators; ++op) {
    const schema::Operator& one = *graph.operators()->Get(op);
    bool of_constants = true;
    each(one.inputs(), [&](uint32_t tensor) {
      lives[tensor].last = std::max(lives[tensor].last, op);
      of_constants = of_constants && lasts[tensor];
    });
    each(one.outputs(), [&](uint32_t tensor) {
      lasts[tensor] = of_constants;
      lives[tensor] = {.computed = true, .first = of_constants ? 0 : op, .last = of_constants ? operators - 1 : op};
    });
  }
  return lives;
}

}  // namespace wasinn::tflite
