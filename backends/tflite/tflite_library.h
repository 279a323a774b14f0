// TensorFlow Lite, opened at run time.
#pragma once

#include <tensorflow/lite/c/c_api.h>
#include <tensorflow/lite/c/common.h>

#include <cstdarg>
#include <string>
#include <vector>

#include "common/library.h"
#include "common/throw.h"

namespace wasinn::tflite {

using ErrorReporter = void (*)(void* user_data, const char* format, va_list args);

// XNNPACK's delegate. Its header is not among those at hand; the used parts are declared here.
struct XnnpackWeightsCache;  // TensorFlow Lite's TfLiteXNNPackDelegateWeightsCache
// At least as large as TfLiteXNNPackDelegateOptions of any version, whose fields have moved: see delegates.cc.
struct XnnpackOptions {
  uint32_t words[64];
};

// Custom operators. Their header is not among those at hand either.
struct TfLiteOperator;
struct TfLiteOpaqueContext;
struct TfLiteOpaqueNode;
struct TfLiteOpaqueTensor;

// The C API's library, by its names in TensorFlow's build and in Debian; the one in the Java binding has it, too.
inline constexpr const char* kLibraryNames[] = {"libtensorflowlite_c.so", "libtensorflow-lite.so",
                                                "libjnitensorflowlite.so"};

// The C API. Optional functions may be NULL: older libraries lack them. Open for the life of the OS process.
class TfLiteLibrary {
 public:
  // `configured`: an absolute path of the library or of its folder; empty: the dynamic linker's folders. Throws
  // WASINN_ERROR_UNSUPPORTED_OPERATION if there is none.
  explicit TfLiteLibrary(const std::string& configured)
      : library_({.framework = "TensorFlow Lite",
                  .install = "scripts/deps.sh tflite",
                  .names = kLibraryNames,
                  .configured = configured}) {}

  const std::string& path() const { return path_; }

 private:
  struct Symbol {
    template <typename Function>
    operator Function*() const {  // NOLINT(google-explicit-constructor)
      return reinterpret_cast<Function*>(address);
    }
    void* address;
  };
  Symbol Require(const char* name) const {
    if (library_.FindSymbol(name) == nullptr && library_.FindSymbol("LiteRtCreateEnvironment") != nullptr) {
      backend::Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
                     "the library that was found is LiteRT's own (libLiteRt.so), which has none of TensorFlow Lite's C "
                     "API: expected libtensorflowlite_c.so");
    }
    return {library_.Symbol<void*>(name)};
  }
  Symbol Find(const char* name) const { return {library_.FindSymbol(name)}; }

  const backend::Library library_;

 public:
  decltype(&TfLiteVersion) version = Require("TfLiteVersion");
  decltype(&TfLiteModelCreate) model_create = Require("TfLiteModelCreate");
  decltype(&TfLiteModelDelete) model_delete = Require("TfLiteModelDelete");
  decltype(&TfLiteInterpreterOptionsCreate) options_create = Require("TfLiteInterpreterOptionsCreate");
  decltype(&TfLiteInterpreterOptionsDelete) options_delete = Require("TfLiteInterpreterOptionsDelete");
  decltype(&TfLiteInterpreterOptionsSetNumThreads) options_set_num_threads =
      Require("TfLiteInterpreterOptionsSetNumThreads");
  decltype(&TfLiteInterpreterOptionsAddDelegate) options_add_delegate = Require("TfLiteInterpreterOptionsAddDelegate");
  decltype(&TfLiteInterpreterOptionsSetErrorReporter) options_set_error_reporter =
      Require("TfLiteInterpreterOptionsSetErrorReporter");
  decltype(&TfLiteInterpreterCreate) interpreter_create = Require("TfLiteInterpreterCreate");
  decltype(&TfLiteInterpreterDelete) interpreter_delete = Require("TfLiteInterpreterDelete");
  decltype(&TfLiteInterpreterGetInputTensorCount) input_count = Require("TfLiteInterpreterGetInputTensorCount");
  decltype(&TfLiteInterpreterGetInputTensor) input = Require("TfLiteInterpreterGetInputTensor");
  decltype(&TfLiteInterpreterResizeInputTensor) resize_input = Require("TfLiteInterpreterResizeInputTensor");
  decltype(&TfLiteInterpreterAllocateTensors) allocate_tensors = Require("TfLiteInterpreterAllocateTensors");
  decltype(&TfLiteInterpreterInvoke) invoke = Require("TfLiteInterpreterInvoke");
  decltype(&TfLiteInterpreterGetOutputTensorCount) output_count = Require("TfLiteInterpreterGetOutputTensorCount");
  decltype(&TfLiteInterpreterGetOutputTensor) output = Require("TfLiteInterpreterGetOutputTensor");
  decltype(&TfLiteTensorType) tensor_type = Require("TfLiteTensorType");
  decltype(&TfLiteTensorNumDims) tensor_num_dims = Require("TfLiteTensorNumDims");
  decltype(&TfLiteTensorDim) tensor_dim = Require("TfLiteTensorDim");
  decltype(&TfLiteTensorByteSize) tensor_byte_size = Require("TfLiteTensorByteSize");
  decltype(&TfLiteTensorData) tensor_data = Require("TfLiteTensorData");
  int32_t (*input_tensor_index)(const TfLiteInterpreter*,
                                int32_t input_index) = Require("TfLiteInterpreterGetInputTensorIndex");
  int32_t (*output_tensor_index)(const TfLiteInterpreter*,
                                 int32_t output_index) = Require("TfLiteInterpreterGetOutputTensorIndex");
  TfLiteStatus (*reset_variable_tensors)(TfLiteInterpreter*) = Require("TfLiteInterpreterResetVariableTensors");

  TfLiteModel* (*model_create_with_reporter)(const void*, size_t, ErrorReporter,
                                             void* user_data) = Find("TfLiteModelCreateWithErrorReporter");
  TfLiteStatus (*enable_cancellation)(TfLiteInterpreterOptions*,
                                      bool) = Find("TfLiteInterpreterOptionsEnableCancellation");
  TfLiteStatus (*cancel)(const TfLiteInterpreter*) = Find("TfLiteInterpreterCancel");
  TfLiteStatus (*set_custom_allocation)(TfLiteInterpreter*, int tensor_index, const TfLiteCustomAllocation*,
                                        int64_t flags) = Find("TfLiteInterpreterSetCustomAllocationForTensor");
  TfLiteTensor* (*tensor_at)(const TfLiteInterpreter*, int index) = Find("TfLiteInterpreterGetTensor");
  TfLiteAllocationType (*allocation_type)(const TfLiteTensor*) = Find("TfLiteOpaqueTensorGetAllocationType");
  // For a tensor that each run allocates. It never gets smaller.
  decltype(&TfLiteTensorRealloc) tensor_realloc = Find("TfLiteTensorRealloc");
  TfLiteOperator* (*operator_create)(int32_t builtin_code, const char* name, int version,
                                     void* user_data) = Find("TfLiteOperatorCreate");
  void (*operator_delete)(TfLiteOperator*) = Find("TfLiteOperatorDelete");
  TfLiteStatus (*operator_set_prepare)(TfLiteOperator*,
                                       TfLiteStatus (*)(void* user_data, TfLiteOpaqueContext*,
                                                        TfLiteOpaqueNode*)) = Find("TfLiteOperatorSetPrepareWithData");
  void (*options_add_operator)(TfLiteInterpreterOptions*,
                               TfLiteOperator*) = Find("TfLiteInterpreterOptionsAddOperator");
  const TfLiteOpaqueTensor* (*node_input)(const TfLiteOpaqueContext*, const TfLiteOpaqueNode*,
                                          int index) = Find("TfLiteOpaqueNodeGetInput");
  TfLiteOpaqueTensor* (*node_output)(TfLiteOpaqueContext*, const TfLiteOpaqueNode*,
                                     int index) = Find("TfLiteOpaqueNodeGetOutput");
  TfLiteStatus (*node_custom_data)(const TfLiteOpaqueNode*, const void** data,
                                   int* size) = Find("TfLiteOpaqueNodeGetCustomInitialData");
  void (*context_report_error)(TfLiteOpaqueContext*, const char* format, ...) = Find("TfLiteOpaqueContextReportError");
  bool has_operators() const {
    return operator_create != nullptr && operator_delete != nullptr && operator_set_prepare != nullptr &&
           options_add_operator != nullptr && node_input != nullptr && node_output != nullptr &&
           node_custom_data != nullptr && context_report_error != nullptr;
  }
  // Empty, too, if the tensor has no rank, or is NULL.
  std::vector<int64_t> DimsOf(const TfLiteTensor* tensor) const {
    const int32_t rank = tensor == nullptr ? 0 : tensor_num_dims(tensor);
    std::vector<int64_t> dims;
    for (int32_t d = 0; d < rank; ++d) dims.push_back(tensor_dim(tensor, d));
    return dims;
  }
  XnnpackOptions (*xnnpack_options)() = Find("TfLiteXNNPackDelegateOptionsDefault");
  uint32_t (*xnnpack_flags)(TfLiteDelegate*) = Find("TfLiteXNNPackDelegateGetFlags");
  TfLiteDelegate* (*xnnpack_create)(const XnnpackOptions*) = Find("TfLiteXNNPackDelegateCreate");
  void (*xnnpack_delete)(TfLiteDelegate*) = Find("TfLiteXNNPackDelegateDelete");
  XnnpackWeightsCache* (*weights_cache_create)() = Find("TfLiteXNNPackDelegateWeightsCacheCreate");
  void (*weights_cache_delete)(XnnpackWeightsCache*) = Find("TfLiteXNNPackDelegateWeightsCacheDelete");
  bool (*weights_cache_finalize_soft)(XnnpackWeightsCache*) = Find("TfLiteXNNPackDelegateWeightsCacheFinalizeSoft");

 private:
  const std::string path_ = library_.PathOf(reinterpret_cast<const void*>(version));
};

}  // namespace wasinn::tflite
