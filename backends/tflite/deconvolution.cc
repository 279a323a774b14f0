#include "tflite/deconvolution.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "tflite/model_scan.h"
#include "tflite/schema.h"

namespace wasinn::tflite {

namespace {

// The beginning of TfLiteTransposeConvParams.
struct Options {
  int32_t padding, stride_width, stride_height;
};

enum Padding : int32_t { kSame = 1, kValid = 2 };

using Dims = std::array<int64_t, 4>;

// False: it has another number of dimensions.
bool ReadDims(const TfLiteLibrary& library, const TfLiteOpaqueTensor* opaque, int32_t rank, Dims* dims) {
  if (opaque == nullptr) return false;
  // One and the same, for the C API.
  const auto* tensor = reinterpret_cast<const TfLiteTensor*>(opaque);
  if (library.tensor_num_dims(tensor) != rank) return false;
  for (int32_t d = 0; d < rank; ++d) {
    (*dims)[static_cast<size_t>(d)] = library.tensor_dim(tensor, d);
    if (library.tensor_dim(tensor, d) <= 0) return false;
  }
  return true;
}

// Of height or width. With padding "same", TensorFlow may have had any output that is so large after rounding.
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
  Dims input = {}, filter = {}, bias = {}, output = {};
  if (library.node_custom_data(node, &data, &size) != kTfLiteOk || data == nullptr ||
      size < static_cast<int>(sizeof(options)) || !ReadDims(library, library.node_input(context, node, 0), 4, &input) ||
      !ReadDims(library, library.node_input(context, node, 1), 4, &filter) ||
      !ReadDims(library, library.node_input(context, node, 2), 1, &bias) ||
      !ReadDims(library, library.node_output(context, node, 0), 4, &output)) {
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

OperatorPtr NewDeconvolutionCheck(const TfLiteLibrary& library) {
  if (!library.has_operators()) return {nullptr, nullptr};
  static const std::string name(kDeconvolution);
  OperatorPtr check(library.operator_create(kCustom, name.c_str(), 1, const_cast<TfLiteLibrary*>(&library)),
                    library.operator_delete);
  library.operator_set_prepare(check.get(), Prepare);
  return check;
}

}  // namespace wasinn::tflite
