// TensorFlow Lite, opened at run time.
#pragma once

#include <tensorflow/lite/c/c_api.h>
#include <tensorflow/lite/c/common.h>

#include <cstdarg>
#include <string>

#include "common/library.h"

namespace wasinn::tflite {

using ErrorReporter = void (*)(void* user_data, const char* format, va_list args);

// XNNPACK's delegate. Its header is not among those at hand; what is used of it is declared here.
struct XnnpackWeightsCache;  // TensorFlow Lite's TfLiteXNNPackDelegateWeightsCache
// At least as large as TfLiteXNNPackDelegateOptions of any version, whose fields have moved: see xnnpack.cc.
struct XnnpackOptions {
  uint32_t words[64];
};

// Custom operators. Their header is not among those at hand either.
struct TfLiteOperator;
struct TfLiteOpaqueContext;
struct TfLiteOpaqueNode;
struct TfLiteOpaqueTensor;

// The C API. Members that may be NULL are marked: older libraries lack them. Open for the life of the OS process.
class TfLiteLibrary {
 public:
  // `configured`: an absolute path of the library or of its folder; empty: where the dynamic linker looks. Throws
  // WASINN_UNSUPPORTED_OPERATION where there is none.
  explicit TfLiteLibrary(const std::string& configured);

  const std::string& path() const { return path_; }

  decltype(&TfLiteVersion) version;
  decltype(&TfLiteModelCreate) model_create;
  decltype(&TfLiteModelDelete) model_delete;
  decltype(&TfLiteInterpreterOptionsCreate) options_create;
  decltype(&TfLiteInterpreterOptionsDelete) options_delete;
  decltype(&TfLiteInterpreterOptionsSetNumThreads) options_set_num_threads;
  decltype(&TfLiteInterpreterOptionsAddDelegate) options_add_delegate;
  decltype(&TfLiteInterpreterOptionsSetErrorReporter) options_set_error_reporter;
  decltype(&TfLiteInterpreterCreate) interpreter_create;
  decltype(&TfLiteInterpreterDelete) interpreter_delete;
  decltype(&TfLiteInterpreterGetInputTensorCount) input_count;
  decltype(&TfLiteInterpreterGetInputTensor) input;
  decltype(&TfLiteInterpreterResizeInputTensor) resize_input;
  decltype(&TfLiteInterpreterAllocateTensors) allocate_tensors;
  decltype(&TfLiteInterpreterInvoke) invoke;
  decltype(&TfLiteInterpreterGetOutputTensorCount) output_count;
  decltype(&TfLiteInterpreterGetOutputTensor) output;
  decltype(&TfLiteTensorType) tensor_type;
  decltype(&TfLiteTensorNumDims) tensor_num_dims;
  decltype(&TfLiteTensorDim) tensor_dim;
  decltype(&TfLiteTensorByteSize) tensor_byte_size;
  decltype(&TfLiteTensorData) tensor_data;
  decltype(&TfLiteTensorName) tensor_name;
  int32_t (*input_tensor_index)(const TfLiteInterpreter*, int32_t input_index);
  int32_t (*output_tensor_index)(const TfLiteInterpreter*, int32_t output_index);
  TfLiteStatus (*reset_variable_tensors)(TfLiteInterpreter*);

  // NULL in older libraries.
  TfLiteModel* (*model_create_with_reporter)(const void*, size_t, ErrorReporter, void* user_data);
  TfLiteStatus (*enable_cancellation)(TfLiteInterpreterOptions*, bool);
  TfLiteStatus (*cancel)(const TfLiteInterpreter*);
  TfLiteStatus (*set_custom_allocation)(TfLiteInterpreter*, int tensor_index, const TfLiteCustomAllocation*,
                                        int64_t flags);
  TfLiteTensor* (*tensor_at)(const TfLiteInterpreter*, int index);
  TfLiteAllocationType (*allocation_type)(const TfLiteTensor*);
  TfLiteOperator* (*operator_create)(int32_t builtin_code, const char* name, int version, void* user_data);
  void (*operator_delete)(TfLiteOperator*);
  TfLiteStatus (*operator_set_prepare)(TfLiteOperator*,
                                       TfLiteStatus (*)(void* user_data, TfLiteOpaqueContext*, TfLiteOpaqueNode*));
  void (*options_add_operator)(TfLiteInterpreterOptions*, TfLiteOperator*);
  const TfLiteOpaqueTensor* (*node_input)(const TfLiteOpaqueContext*, const TfLiteOpaqueNode*, int index);
  TfLiteOpaqueTensor* (*node_output)(TfLiteOpaqueContext*, const TfLiteOpaqueNode*, int index);
  TfLiteStatus (*node_custom_data)(const TfLiteOpaqueNode*, const void** data, int* size);
  void (*context_report_error)(TfLiteOpaqueContext*, const char* format, ...);
  bool has_operators() const {
    return operator_create != nullptr && operator_delete != nullptr && operator_set_prepare != nullptr &&
           options_add_operator != nullptr && node_input != nullptr && node_output != nullptr &&
           node_custom_data != nullptr && context_report_error != nullptr;
  }
  XnnpackOptions (*xnnpack_options)();
  uint32_t (*xnnpack_flags)(TfLiteDelegate*);
  TfLiteDelegate* (*xnnpack_create)(const XnnpackOptions*);
  void (*xnnpack_delete)(TfLiteDelegate*);
  XnnpackWeightsCache* (*weights_cache_create)();
  void (*weights_cache_delete)(XnnpackWeightsCache*);
  bool (*weights_cache_finalize_soft)(XnnpackWeightsCache*);

 private:
  std::string path_;
};

}  // namespace wasinn::tflite
