#include "tflite/tflite_library.h"

namespace wasinn::tflite {

namespace {

// The C API's library, as TensorFlow's build and Debian call it; the one in the Java binding has it, too.
constexpr const char* kLibraryNames[] = {"libtensorflowlite_c.so", "libtensorflow-lite.so", "libjnitensorflowlite.so"};

template <typename Function>
void Require(const backend::Library& library, const char* name, Function* function) {
  *function = library.Symbol<Function>(name);
}

template <typename Function>
void Find(const backend::Library& library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(library.FindSymbol(name));
}

}  // namespace

TfLiteLibrary::TfLiteLibrary(const std::string& configured) {
  const backend::Library library({.framework = "TensorFlow Lite",
                                  .install = "scripts/deps.sh tflite",
                                  .names = kLibraryNames,
                                  .configured = configured});
  Require(library, "TfLiteVersion", &version);
  Require(library, "TfLiteModelCreate", &model_create);
  Require(library, "TfLiteModelDelete", &model_delete);
  Require(library, "TfLiteInterpreterOptionsCreate", &options_create);
  Require(library, "TfLiteInterpreterOptionsDelete", &options_delete);
  Require(library, "TfLiteInterpreterOptionsSetNumThreads", &options_set_num_threads);
  Require(library, "TfLiteInterpreterOptionsAddDelegate", &options_add_delegate);
  Require(library, "TfLiteInterpreterOptionsSetErrorReporter", &options_set_error_reporter);
  Require(library, "TfLiteInterpreterCreate", &interpreter_create);
  Require(library, "TfLiteInterpreterDelete", &interpreter_delete);
  Require(library, "TfLiteInterpreterGetInputTensorCount", &input_count);
  Require(library, "TfLiteInterpreterGetInputTensor", &input);
  Require(library, "TfLiteInterpreterResizeInputTensor", &resize_input);
  Require(library, "TfLiteInterpreterAllocateTensors", &allocate_tensors);
  Require(library, "TfLiteInterpreterInvoke", &invoke);
  Require(library, "TfLiteInterpreterGetOutputTensorCount", &output_count);
  Require(library, "TfLiteInterpreterGetOutputTensor", &output);
  Require(library, "TfLiteTensorType", &tensor_type);
  Require(library, "TfLiteTensorNumDims", &tensor_num_dims);
  Require(library, "TfLiteTensorDim", &tensor_dim);
  Require(library, "TfLiteTensorByteSize", &tensor_byte_size);
  Require(library, "TfLiteTensorData", &tensor_data);
  Require(library, "TfLiteTensorName", &tensor_name);
  Require(library, "TfLiteInterpreterGetInputTensorIndex", &input_tensor_index);
  Require(library, "TfLiteInterpreterGetOutputTensorIndex", &output_tensor_index);
  Require(library, "TfLiteInterpreterResetVariableTensors", &reset_variable_tensors);
  Find(library, "TfLiteModelCreateWithErrorReporter", &model_create_with_reporter);
  Find(library, "TfLiteInterpreterOptionsEnableCancellation", &enable_cancellation);
  Find(library, "TfLiteInterpreterCancel", &cancel);
  Find(library, "TfLiteInterpreterSetCustomAllocationForTensor", &set_custom_allocation);
  Find(library, "TfLiteInterpreterGetTensor", &tensor_at);
  Find(library, "TfLiteOpaqueTensorGetAllocationType", &allocation_type);
  Find(library, "TfLiteOperatorCreate", &operator_create);
  Find(library, "TfLiteOperatorDelete", &operator_delete);
  Find(library, "TfLiteOperatorSetPrepareWithData", &operator_set_prepare);
  Find(library, "TfLiteInterpreterOptionsAddOperator", &options_add_operator);
  Find(library, "TfLiteOpaqueNodeGetInput", &node_input);
  Find(library, "TfLiteOpaqueNodeGetOutput", &node_output);
  Find(library, "TfLiteOpaqueNodeGetCustomInitialData", &node_custom_data);
  Find(library, "TfLiteOpaqueContextReportError", &context_report_error);
  Find(library, "TfLiteXNNPackDelegateOptionsDefault", &xnnpack_options);
  Find(library, "TfLiteXNNPackDelegateGetFlags", &xnnpack_flags);
  Find(library, "TfLiteXNNPackDelegateCreate", &xnnpack_create);
  Find(library, "TfLiteXNNPackDelegateDelete", &xnnpack_delete);
  Find(library, "TfLiteXNNPackDelegateWeightsCacheCreate", &weights_cache_create);
  Find(library, "TfLiteXNNPackDelegateWeightsCacheDelete", &weights_cache_delete);
  Find(library, "TfLiteXNNPackDelegateWeightsCacheFinalizeSoft", &weights_cache_finalize_soft);
  path_ = library.PathOf(reinterpret_cast<const void*>(version));
}

}  // namespace wasinn::tflite
