#include "tflite/shape_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/error.h"

namespace wasinn::tflite {

using backend::Error;

namespace {

std::vector<int32_t> DimsAt(const Interpreter& interpreter, int32_t index) {
  const TfLiteLibrary& library = interpreter.library();
  const TfLiteTensor* tensor = library.tensor_at(interpreter.get(), index);
  std::vector<int32_t> dims;
  if (tensor == nullptr) return dims;
  for (int32_t d = 0; d < library.tensor_num_dims(tensor); ++d) dims.push_back(library.tensor_dim(tensor, d));
  return dims;
}

[[noreturn]] void Refuse(const WindowOperator& op, const std::vector<int32_t>& dims) {
  throw Error(WASINN_ERROR_INVALID_ARGUMENT,
              fmt::format("operator {} with a tensor of dims [{}]: expected one that its window and channels fit into",
                          op.code, fmt::join(dims, ", ")));
}

}  // namespace

void CheckShapes(const Interpreter& interpreter, const ModelScan& scan) {
  if (interpreter.library().tensor_at == nullptr) return;
  for (const WindowOperator& op : scan.windows) {
    for (const std::vector<int32_t>* indices : {&op.inputs, &op.outputs}) {
      for (const int32_t index : *indices) {
        if (index < 0) continue;
        const std::vector<int32_t> dims = DimsAt(interpreter, index);
        if (std::ranges::any_of(dims, [](int32_t dim) { return dim <= 0; })) Refuse(op, dims);
      }
    }
    if (!op.is_convolution || op.inputs.size() < 2) continue;
    const std::vector<int32_t> input = DimsAt(interpreter, op.inputs[0]);
    const std::vector<int32_t> filter = DimsAt(interpreter, op.inputs[1]);
    if (input.size() != 4 || filter.size() != 4) Refuse(op, filter);
    // Channels come last; of the filter, the outputs first.
    if (input[3] % filter[3] != 0 || filter[0] % (input[3] / filter[3]) != 0) Refuse(op, input);
  }
}

}  // namespace wasinn::tflite
