#include "tflite/operator_order.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "common/saturating.h"

namespace wasinn::tflite {

namespace {

// Whether a tensor needs no operator that gives it.
bool HasValue(const schema::Tensor& tensor, const Tables<schema::Buffer>* buffers, Trust trust) {
  return trust == Trust::kHost || IsConstant(tensor, buffers) || tensor.is_variable() ||
         BytesOf(SpanOf(tensor.shape())) == 0;
}

}  // namespace

void ThrowInvalid(const std::string& what) {
  throw backend::Error(WASINN_INVALID_ENCODING, fmt::format("broken model: {}", what));
}

uint64_t BytesOf(std::span<const int32_t> shape) {
  uint64_t bytes = 1;
  for (const int32_t dim : shape) bytes = backend::MulSat(bytes, static_cast<uint64_t>(std::max(dim, 0)));
  return bytes;
}

bool IsConstant(const schema::Tensor& tensor, const Tables<schema::Buffer>* buffers) {
  if (tensor.buffer() >= SizeOf(buffers)) return false;
  const schema::Buffer& buffer = *buffers->Get(tensor.buffer());
  return SizeOf(buffer.data()) > 0 || buffer.size() > 0;
}

void CheckOrder(const schema::SubGraph& graph, const Tables<schema::Buffer>* buffers, Trust trust) {
  const uint32_t tensors = SizeOf(graph.tensors()), operators = SizeOf(graph.operators());
  std::vector<bool> pending(tensors);  // that an operator yet to come gives
  const auto each = [](const Numbers* indices, const auto& visit) {
    for (const int32_t tensor : SpanOf(indices)) {
      if (tensor >= 0) visit(static_cast<uint32_t>(tensor));
    }
  };
  for (uint32_t op = 0; op < operators; ++op) {
    each(graph.operators()->Get(op)->outputs(), [&](uint32_t tensor) {
      if (pending[tensor]) ThrowInvalid(fmt::format("tensor {} comes from two operators", tensor));
      pending[tensor] = true;
    });
  }
  // XNNPACK also believes that somebody gives what an operator takes. Of each tensor once: a great many operators may
  // share one, and its shape may be long.
  std::vector<bool> given = pending;
  each(graph.inputs(), [&](uint32_t tensor) {
    if (tensor < given.size()) given[tensor] = true;
  });
  for (uint32_t i = 0; i < tensors; ++i) given[i] = given[i] || HasValue(*graph.tensors()->Get(i), buffers, trust);
  for (uint32_t op = 0; op < operators; ++op) {
    each(graph.operators()->Get(op)->inputs(), [&](uint32_t tensor) {
      if (!given[tensor]) ThrowInvalid(fmt::format("an operator takes tensor {}, which nothing gives", tensor));
      if (pending[tensor]) ThrowInvalid(fmt::format("an operator takes tensor {} before it is there", tensor));
    });
    each(graph.operators()->Get(op)->outputs(), [&](uint32_t tensor) { pending[tensor] = false; });
  }
}

std::vector<Lifetime> LivesOf(const schema::SubGraph& graph, const Tables<schema::Buffer>* buffers) {
  const uint32_t tensors = SizeOf(graph.tensors()), operators = SizeOf(graph.operators());
  std::vector<Lifetime> lives(tensors);
  std::vector<bool> lasts(tensors);
  for (uint32_t i = 0; i < tensors; ++i) lasts[i] = IsConstant(*graph.tensors()->Get(i), buffers);
  for (uint32_t op = 0; op < operators; ++op) {
    const schema::Operator& one = *graph.operators()->Get(op);
    bool of_constants = true;
    for (const int32_t tensor : SpanOf(one.inputs())) {
      if (tensor < 0) continue;
      Lifetime& life = lives[static_cast<uint32_t>(tensor)];
      life.last = std::max(life.last, op);
      of_constants = of_constants && lasts[static_cast<uint32_t>(tensor)];
    }
    for (const int32_t tensor : SpanOf(one.outputs())) {
      if (tensor < 0) continue;
      lasts[static_cast<uint32_t>(tensor)] = of_constants;
      lives[static_cast<uint32_t>(tensor)] = {
          .computed = true, .first = of_constants ? 0 : op, .last = of_constants ? operators - 1 : op};
    }
  }
  return lives;
}

}  // namespace wasinn::tflite
