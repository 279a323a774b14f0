#include "backends/openvino_native.h"

#include <dlfcn.h>
#include <openvino/c/openvino.h>

#include <filesystem>
#include <stdexcept>

#include "support/this_build.h"

namespace wasinn::test {

#define NATIVE_OPENVINO_FUNCTIONS(X)             \
  X(ov_core_create)                              \
  X(ov_core_free)                                \
  X(ov_core_read_model)                          \
  X(ov_core_compile_model_props)                 \
  X(ov_compiled_model_create_infer_request)      \
  X(ov_compiled_model_free)                      \
  X(ov_compiled_model_outputs_size)              \
  X(ov_get_last_err_msg)                         \
  X(ov_infer_request_free)                       \
  X(ov_infer_request_get_input_tensor_by_index)  \
  X(ov_infer_request_get_output_tensor_by_index) \
  X(ov_infer_request_infer)                      \
  X(ov_infer_request_set_input_tensor_by_index)  \
  X(ov_model_free)                               \
  X(ov_shape_free)                               \
  X(ov_tensor_create_from_host_ptr)              \
  X(ov_tensor_data)                              \
  X(ov_tensor_free)                              \
  X(ov_tensor_get_byte_size)                     \
  X(ov_tensor_get_element_type)                  \
  X(ov_tensor_get_shape)

struct NativeOpenVino::Impl {
#define NATIVE_OPENVINO_MEMBER(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses): declares
  NATIVE_OPENVINO_FUNCTIONS(NATIVE_OPENVINO_MEMBER)
#undef NATIVE_OPENVINO_MEMBER
  ov_core_t* core = nullptr;

  void Check(ov_status_e status) const {
    if (status != OK) throw std::runtime_error(ov_get_last_err_msg());
  }
};

namespace {

// OpenVINO's number of a type, and back.
constexpr std::pair<wasinn_dtype, ov_element_type_e> kTypes[] = {
    {WASINN_F16, F16}, {WASINN_BF16, BF16}, {WASINN_F32, F32},        {WASINN_F64, F64}, {WASINN_U8, U8},
    {WASINN_I8, I8},   {WASINN_U16, U16},   {WASINN_I16, I16},        {WASINN_U32, U32}, {WASINN_I32, I32},
    {WASINN_U64, U64}, {WASINN_I64, I64},   {WASINN_BOOL, OV_BOOLEAN}};

ov_element_type_e ToOv(wasinn_dtype dtype) {
  for (const auto& [ours, theirs] : kTypes) {
    if (ours == dtype) return theirs;
  }
  throw std::runtime_error("no such type");
}

wasinn_dtype FromOv(ov_element_type_e type) {
  for (const auto& [ours, theirs] : kTypes) {
    if (theirs == type) return ours;
  }
  return WASINN_DTYPE_UNKNOWN;
}

}  // namespace

NativeOpenVino::NativeOpenVino() : impl_(std::make_unique<Impl>()) {
  void* library = dlopen(testing::FrameworkFile("openvino").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
#define NATIVE_OPENVINO_FIND(name)                                              \
  impl_->name = reinterpret_cast<decltype(impl_->name)>(dlsym(library, #name)); \
  if (impl_->name == nullptr) throw std::runtime_error("no " #name);
  NATIVE_OPENVINO_FUNCTIONS(NATIVE_OPENVINO_FIND)
#undef NATIVE_OPENVINO_FIND
  impl_->Check(impl_->ov_core_create(&impl_->core));
}

NativeOpenVino::~NativeOpenVino() { impl_->ov_core_free(impl_->core); }

struct NativeOpenVino::Compiled::Parts {
  ov_model_t* model = nullptr;
  ov_compiled_model_t* compiled = nullptr;
};

NativeOpenVino::Compiled::Compiled(const Impl& impl, const std::string& path)
    : impl_(impl), parts_(std::make_unique<Parts>()) {
  impl.Check(impl.ov_core_read_model(impl.core, path.c_str(), nullptr, &parts_->model));
  const ov_property_t properties[] = {{"INFERENCE_NUM_THREADS", "1"}, {"NUM_STREAMS", "1"}};
  impl.Check(impl.ov_core_compile_model_props(impl.core, parts_->model, "CPU", 2, properties, &parts_->compiled));
}

NativeOpenVino::Compiled::~Compiled() {
  impl_.ov_compiled_model_free(parts_->compiled);
  impl_.ov_model_free(parts_->model);
}

std::vector<Tensor> NativeOpenVino::Compiled::Run(const std::vector<Tensor>& inputs) const {
  ov_infer_request_t* request = nullptr;
  impl_.Check(impl_.ov_compiled_model_create_infer_request(parts_->compiled, &request));
  std::vector<std::string> held;
  held.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<int64_t> dims = inputs[i].dims;
    held.push_back(inputs[i].bytes);
    ov_tensor_t* tensor = nullptr;
    impl_.Check(impl_.ov_tensor_create_from_host_ptr(
        ToOv(inputs[i].dtype), {static_cast<int64_t>(dims.size()), dims.data()}, held.back().data(), &tensor));
    impl_.Check(impl_.ov_infer_request_set_input_tensor_by_index(request, i, tensor));
    impl_.ov_tensor_free(tensor);
  }
  impl_.Check(impl_.ov_infer_request_infer(request));
  size_t n = 0;
  impl_.Check(impl_.ov_compiled_model_outputs_size(parts_->compiled, &n));
  std::vector<Tensor> outputs(n);
  for (size_t i = 0; i < n; ++i) {
    ov_tensor_t* tensor = nullptr;
    impl_.Check(impl_.ov_infer_request_get_output_tensor_by_index(request, i, &tensor));
    ov_element_type_e type = DYNAMIC;
    impl_.Check(impl_.ov_tensor_get_element_type(tensor, &type));
    ov_shape_t shape = {};
    // The C API calls the shape of a scalar an invalid parameter.
    if (const ov_status_e got = impl_.ov_tensor_get_shape(tensor, &shape); got != INVALID_C_PARAM) impl_.Check(got);
    size_t bytes = 0;
    impl_.Check(impl_.ov_tensor_get_byte_size(tensor, &bytes));
    void* data = nullptr;
    if (bytes > 0) impl_.Check(impl_.ov_tensor_data(tensor, &data));
    outputs[i] = {FromOv(type), std::vector<int64_t>(shape.dims, shape.dims + shape.rank),
                  std::string(static_cast<const char*>(data), bytes)};
    if (shape.dims != nullptr) impl_.ov_shape_free(&shape);
    impl_.ov_tensor_free(tensor);
  }
  impl_.ov_infer_request_free(request);
  return outputs;
}

std::unique_ptr<NativeOpenVino::Compiled> NativeOpenVino::Load(const std::string& path) const {
  return std::make_unique<Compiled>(*impl_, path);
}

std::vector<Tensor> NativeOpenVino::Run(const std::string& path, const std::vector<Tensor>& inputs) const {
  return Load(path)->Run(inputs);
}

std::string IrXml(const std::string& name) { return ModelBytes(name + ".xml"); }

LoadOptions IrOptions(const std::string& name) {
  LoadOptions options;
  options.encoding = "openvino";
  options.keeps_bytes = true;
  const std::string weights = ModelPath(name + ".bin");
  if (std::filesystem::exists(weights)) options.more_bytes.push_back(ReadFile(weights));
  return options;
}

}  // namespace wasinn::test
