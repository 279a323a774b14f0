#include "tflite/shape_check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "common/throw.h"

namespace wasinn::tflite {

using backend::Throw;

namespace {

[[noreturn]] void Refuse(const WindowOperator& op, const std::vector<int64_t>& dims) {
  Throw(WASINN_ERROR_INVALID_ARGUMENT,
        "operator {} with a tensor of dims [{}]: expected one that its window and channels fit into", op.code,
        fmt::join(dims, ", "));
}

// The beginning of TfLiteTransposeConvParams.
struct Options {
  int32_t padding, stride_width, stride_height;
};

enum Padding : int32_t { kSame = 1, kValid = 2 };

// Empty: it does not have that many dimensions, or one is 0.
std::vector<int64_t> DimsOf(const TfLiteLibrary& library, const TfLiteOpaqueTensor* opaque, size_t rank) {
  // The C API's name of the same structure.
  const std::vector<int64_t> dims = library.DimsOf(reinterpret_cast<const TfLiteTensor*>(opaque));
  const bool good = dims.size() == rank && std::ranges::all_of(dims, [](int64_t dim) { return dim > 0; });
  return good ? dims : std::vector<int64_t>();
}

// For height or width. With padding "same", TensorFlow may have had any output size that gives this after rounding.
bool Fits(int32_t padding, int64_t input, int64_t window, int64_t stride, int64_t output) {
  if (stride <= 0 || stride > INT32_MAX) return false;
  if (padding == kValid) return output == (input - 1) * stride + window;
  return padding == kSame && window >= stride && output > (input - 1) * stride && output <= input * stride;
}

TfLiteStatus Prepare(void* user_data, TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
  const auto& library = *static_cast<const TfLiteLibrary*>(user_data);
  const void* data = nullptr;
  int size = 0;
  Options options = {};
  const auto input = DimsOf(library, library.node_input(context, node, 0), 4);
  const auto filter = DimsOf(library, library.node_input(context, node, 1), 4);
  const auto bias = DimsOf(library, library.node_input(context, node, 2), 1);
  const auto output = DimsOf(library, library.node_output(context, node, 0), 4);
  if (library.node_custom_data(node, &data, &size) != kTfLiteOk || data == nullptr ||
      size < static_cast<int>(sizeof(options)) || input.empty() || filter.empty() || bias.empty() || output.empty()) {
    library.context_report_error(context,
                                 "Convolution2DTransposeBias: expected options, a value, a filter and an "
                                 "output of 4 dimensions, and a bias of one");
    return kTfLiteError;
  }
  std::memcpy(&options, data, sizeof(options));
  const bool good = Fits(options.padding, input[1], filter[1], options.stride_height, output[1]) &&
                    Fits(options.padding, input[2], filter[2], options.stride_width, output[2]) &&
                    output[0] == input[0] && filter[3] == input[3] && bias[0] == filter[0] && output[3] == filter[0];
  if (good) return kTfLiteOk;
  library.context_report_error(context,
                               "Convolution2DTransposeBias: the shapes of value, filter, bias and output, or strides "
                               "and padding, do not belong together");
  return kTfLiteError;
}

}  // namespace

void CheckShapes(const Interpreter& interpreter, const ModelScan& scan) {
  const TfLiteLibrary& library = interpreter.library();
  if (library.tensor_at == nullptr) return;
  const auto dims_at = [&](int32_t index) { return library.DimsOf(library.tensor_at(interpreter.get(), index)); };
  for (const WindowOperator& op : scan.windows) {
    for (const std::vector<int32_t>* indices : {&op.inputs, &op.outputs}) {
      for (const int32_t index : *indices) {
        if (index < 0) continue;
        const std::vector<int64_t> dims = dims_at(index);
        if (std::ranges::any_of(dims, [](int64_t dim) { return dim <= 0; })) Refuse(op, dims);
      }
    }
    if (!op.is_convolution || op.inputs.size() < 2) continue;
    const std::vector<int64_t> input = dims_at(op.inputs[0]);
    const std::vector<int64_t> filter = dims_at(op.inputs[1]);
    if (input.size() != 4 || filter.size() != 4) Refuse(op, filter);
    // Channels are last; in the filter, the outputs are first.
    if (input[3] % filter[3] != 0 || filter[0] % (input[3] / filter[3]) != 0) Refuse(op, input);
  }
}

OperatorPtr NewDeconvolutionCheck(const TfLiteLibrary& library) {
  if (!library.has_operators()) return {nullptr, nullptr};
  constexpr int32_t kCustom = 32;  // in the schema of models
  static const std::string name(kDeconvolution);
  OperatorPtr check(library.operator_create(kCustom, name.c_str(), 1, const_cast<TfLiteLibrary*>(&library)),
                    library.operator_delete);
  library.operator_set_prepare(check.get(), Prepare);
  return check;
}

}  // namespace wasinn::tflite
