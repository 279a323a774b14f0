#include <dlfcn.h>
#include <openvino/c/openvino.h>

#include <map>
#include <memory>
#include <stdexcept>

#include "reference/reference.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

template <typename Function>
Function* Find(const char* name) {
  static void* const library = dlopen(FrameworkFile("openvino").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  void* function = dlsym(library, name);
  if (function == nullptr) throw std::runtime_error(name);
  return reinterpret_cast<Function*>(function);
}
#define OV(name) Find<decltype(::name)>(#name)

void Check(ov_status_e status) {
  if (status != OK) throw std::runtime_error(OV(ov_get_last_err_msg)());
}

void SetInput(ov_infer_request_t* request, size_t index, const test::Tensor& input) {
  static const std::map<wasinn_dtype, ov_element_type_e> kTypes = {
      {WASINN_DTYPE_U8, U8}, {WASINN_DTYPE_F32, F32}, {WASINN_DTYPE_I32, I32}, {WASINN_DTYPE_I64, I64}};
  ov_tensor_t* tensor = nullptr;
  const ov_shape_t shape = {static_cast<int64_t>(input.dims.size()), const_cast<int64_t*>(input.dims.data())};
  Check(OV(ov_tensor_create_from_host_ptr)(kTypes.at(input.dtype), shape, const_cast<char*>(input.bytes.data()),
                                           &tensor));
  Check(OV(ov_infer_request_set_input_tensor_by_index)(request, index, tensor));
  OV(ov_tensor_free)(tensor);
}

test::Tensor OutputOf(const ov_infer_request_t* request, size_t index) {
  ov_tensor_t* tensor = nullptr;
  Check(OV(ov_infer_request_get_output_tensor_by_index)(request, index, &tensor));
  size_t bytes = 0;
  Check(OV(ov_tensor_get_byte_size)(tensor, &bytes));
  void* data = nullptr;
  if (bytes > 0) Check(OV(ov_tensor_data)(tensor, &data));
  test::Tensor output = OfBytes(data, bytes);
  OV(ov_tensor_free)(tensor);
  return output;
}

// Lives as long as the program.
ov_compiled_model_t* Compile(const std::string& path) {
  ov_core_t* core = nullptr;
  ov_model_t* model = nullptr;
  ov_compiled_model_t* compiled = nullptr;
  Check(OV(ov_core_create)(&core));
  Check(OV(ov_core_read_model)(core, path.c_str(), nullptr, &model));
  const ov_property_t properties[] = {{"INFERENCE_NUM_THREADS", "1"}, {"NUM_STREAMS", "1"}};
  Check(OV(ov_core_compile_model_props)(core, model, "CPU", 2, properties, &compiled));
  return compiled;
}

}  // namespace

Infer OpenModel(const std::string& path, const Names&, const Names&) {
  return [model = Compile(path)](const std::vector<test::Tensor>& inputs) {
    ov_infer_request_t* request = nullptr;
    Check(OV(ov_compiled_model_create_infer_request)(model, &request));
    for (size_t i = 0; i < inputs.size(); ++i) SetInput(request, i, inputs[i]);
    Check(OV(ov_infer_request_infer)(request));
    size_t n = 0;
    Check(OV(ov_compiled_model_outputs_size)(model, &n));
    std::vector<test::Tensor> outputs;
    for (size_t i = 0; i < n; ++i) outputs.push_back(OutputOf(request, i));
    OV(ov_infer_request_free)(request);
    return outputs;
  };
}

}  // namespace wasinn::testing
