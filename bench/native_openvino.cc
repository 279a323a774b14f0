// OpenVINO through its C API. It has the settings of backends/openvino: the latency hint, the same threads and streams,
// no pinning.
#include <dlfcn.h>
#include <fmt/format.h>
#include <openvino/c/openvino.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <utility>

#include "bench/native.h"

namespace wasinn::bench {
namespace {

#define BENCH_OPENVINO_FUNCTIONS(X)              \
  X(ov_compiled_model_create_infer_request)      \
  X(ov_compiled_model_free)                      \
  X(ov_core_compile_model_props)                 \
  X(ov_core_create)                              \
  X(ov_core_free)                                \
  X(ov_core_read_model)                          \
  X(ov_free)                                     \
  X(ov_get_last_err_msg)                         \
  X(ov_infer_request_free)                       \
  X(ov_infer_request_get_output_tensor_by_index) \
  X(ov_infer_request_infer)                      \
  X(ov_infer_request_set_input_tensor_by_index)  \
  X(ov_infer_request_set_output_tensor_by_index) \
  X(ov_model_free)                               \
  X(ov_model_is_dynamic)                         \
  X(ov_shape_free)                               \
  X(ov_tensor_create_from_host_ptr)              \
  X(ov_tensor_free)                              \
  X(ov_tensor_get_byte_size)                     \
  X(ov_tensor_get_shape)

template <typename T>
using OvPtr = std::unique_ptr<T, void (*)(T*)>;

class OvLibrary {
 public:
  explicit OvLibrary(const std::string& path) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed
    if (handle == nullptr) throw std::runtime_error(dlerror());
#define BENCH_OPENVINO_FIND(name)                                \
  name = reinterpret_cast<decltype(name)>(dlsym(handle, #name)); \
  if ((name) == nullptr) throw std::runtime_error(path + " has no " #name);
    BENCH_OPENVINO_FUNCTIONS(BENCH_OPENVINO_FIND)
#undef BENCH_OPENVINO_FIND
  }

  std::string Error() const {
    const char* text = ov_get_last_err_msg();
    std::string message = text == nullptr ? "OpenVINO failed" : std::string("OpenVINO: ") + text;
    ov_free(text);
    return message;
  }
  void Check(ov_status_e status) const {
    if (status != OK) throw std::runtime_error(Error());
  }

#define BENCH_OPENVINO_MEMBER(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses): declares
  BENCH_OPENVINO_FUNCTIONS(BENCH_OPENVINO_MEMBER)
#undef BENCH_OPENVINO_MEMBER
};

// While it makes a core, OpenVINO looks for missing plugins in the working folder, where a guest may have put one. So
// the working folder is set to OpenVINO's own meanwhile. The backend cannot do that (openvino/core.h), because other
// threads may use the working folder; here there are none.
ov_core_t* NewCore(const OvLibrary& api, const std::string& library) {
  namespace fs = std::filesystem;
  const fs::path before = fs::current_path();
  fs::current_path(fs::canonical(library).parent_path());
  ov_core_t* core = nullptr;
  const ov_status_e status = api.ov_core_create(&core);
  fs::current_path(before);
  api.Check(status);
  return core;
}

// The parts that runners share.
struct OvModel {
  OvModel(const NativeOptions& options, const std::vector<Tensor>& model_inputs, std::vector<Tensor>* model_outputs)
      : api(options.library), inputs(model_inputs), outputs(model_outputs) {
    ov_core_t* raw_core = NewCore(api, options.library);
    core = {raw_core, api.ov_core_free};
    ov_model_t* raw_model = nullptr;
    api.Check(api.ov_core_read_model(raw_core, options.path.c_str(), nullptr, &raw_model));
    const OvPtr<ov_model_t> model(raw_model, api.ov_model_free);
    const int processors = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 4);
    const int streams = options.threads == 1 && !api.ov_model_is_dynamic(raw_model) ? processors : 1;
    const std::string threads_text = std::to_string(options.threads * streams);
    const std::string streams_text = std::to_string(streams);
    const ov_property_t properties[] = {{"PERFORMANCE_HINT", "LATENCY"},
                                        {"INFERENCE_NUM_THREADS", threads_text.c_str()},
                                        {"NUM_STREAMS", streams_text.c_str()},
                                        {"ENABLE_CPU_PINNING", "NO"}};
    ov_compiled_model_t* raw = nullptr;
    api.Check(api.ov_core_compile_model_props(raw_core, raw_model, "CPU", std::size(properties), properties, &raw));
    compiled = {raw, api.ov_compiled_model_free};
  }

  const OvLibrary api;
  const std::vector<Tensor>& inputs;
  std::vector<Tensor>* const outputs;
  OvPtr<ov_core_t> core{nullptr, nullptr};
  OvPtr<ov_compiled_model_t> compiled{nullptr, nullptr};
};

ov_element_type_e ToOv(Dtype dtype) {
  constexpr std::pair<Dtype, ov_element_type_e> kTypes[] = {
      {WASINN_DTYPE_F16, F16},        {WASINN_DTYPE_BF16, BF16}, {WASINN_DTYPE_F32, F32}, {WASINN_DTYPE_F64, F64},
      {WASINN_DTYPE_U8, U8},          {WASINN_DTYPE_I8, I8},     {WASINN_DTYPE_U16, U16}, {WASINN_DTYPE_I16, I16},
      {WASINN_DTYPE_U32, U32},        {WASINN_DTYPE_I32, I32},   {WASINN_DTYPE_U64, U64}, {WASINN_DTYPE_I64, I64},
      {WASINN_DTYPE_BOOL, OV_BOOLEAN}};
  for (const auto& [ours, theirs] : kTypes) {
    if (ours == dtype) return theirs;
  }
  return DYNAMIC;
}

class OpenVinoRunner final : public NativeRunner {
 public:
  explicit OpenVinoRunner(const OvModel& model) : model_(model), api_(model.api), request_(nullptr, nullptr) {
    ov_infer_request_t* raw = nullptr;
    api_.Check(api_.ov_compiled_model_create_infer_request(model.compiled.get(), &raw));
    request_ = {raw, api_.ov_infer_request_free};
    for (size_t i = 0; i < model.inputs.size(); ++i) {
      const Tensor& input = model.inputs[i];
      inputs_.emplace_back(input.data.size());
      std::memcpy(inputs_.back().data(), input.data.bytes().data(), input.data.size());
      Bind(api_.ov_infer_request_set_input_tensor_by_index, i, input, inputs_.back());
    }
  }

  // Runs once with outputs that OpenVINO allocates, and describes them.
  void Discover(std::vector<Tensor>* outputs) {
    if (!Run()) throw std::runtime_error(error_);
    for (size_t i = 0; i < outputs->size(); ++i) {
      ov_tensor_t* raw = nullptr;
      api_.Check(api_.ov_infer_request_get_output_tensor_by_index(request_.get(), i, &raw));
      const OvPtr<ov_tensor_t> tensor(raw, api_.ov_tensor_free);
      ov_shape_t shape = {};
      // The C API calls the shape of a scalar an invalid parameter.
      if (const ov_status_e got = api_.ov_tensor_get_shape(raw, &shape); got != INVALID_C_PARAM) api_.Check(got);
      (*outputs)[i].dims.assign(shape.dims, shape.dims + shape.rank);
      if (shape.dims != nullptr) api_.ov_shape_free(&shape);
      size_t bytes = 0;
      api_.Check(api_.ov_tensor_get_byte_size(raw, &bytes));
      (*outputs)[i].data = Buffer(bytes);
    }
  }

  // From here on, outputs have fixed places.
  void BindOutputs() {
    for (size_t i = 0; i < model_.outputs->size(); ++i) {
      const Tensor& output = (*model_.outputs)[i];
      outputs_.emplace_back(output.data.size());
      Bind(api_.ov_infer_request_set_output_tensor_by_index, i, output, outputs_.back());
    }
  }

  bool Run() override {
    if (api_.ov_infer_request_infer(request_.get()) == OK) [[likely]]
      return true;
    error_ = api_.Error();
    return false;
  }

  std::string error() const override { return error_; }
  std::span<uint8_t> input(size_t i) override { return inputs_[i].bytes(); }
  std::span<const uint8_t> output(size_t i) const override { return outputs_[i].bytes(); }

 private:
  void Bind(decltype(OvLibrary::ov_infer_request_set_input_tensor_by_index) bind, size_t index, const Tensor& tensor,
            Buffer& buffer) {
    std::vector<int64_t> dims(tensor.dims.begin(), tensor.dims.end());
    const ov_shape_t shape = {.rank = static_cast<int64_t>(dims.size()), .dims = dims.data()};
    ov_tensor_t* raw = nullptr;
    api_.Check(api_.ov_tensor_create_from_host_ptr(ToOv(tensor.dtype), shape, buffer.data(), &raw));
    const OvPtr<ov_tensor_t> owned(raw, api_.ov_tensor_free);  // the request keeps its own reference
    api_.Check(bind(request_.get(), index, raw));
  }

  const OvModel& model_;
  const OvLibrary& api_;
  std::vector<Buffer> inputs_, outputs_;
  OvPtr<ov_infer_request_t> request_;
  std::string error_;
};

class OpenVinoModel final : public NativeModel {
 public:
  OpenVinoModel(const NativeOptions& options, const std::vector<Tensor>& inputs, std::vector<Tensor>* outputs)
      : model_(options, inputs, outputs) {
    OpenVinoRunner(model_).Discover(outputs);
  }

  Result<std::unique_ptr<NativeRunner>> NewRunner() const override try {
    auto runner = std::make_unique<OpenVinoRunner>(model_);
    runner->BindOutputs();
    return runner;
  } catch (const std::runtime_error& error) {
    return std::unexpected(error.what());
  }

 private:
  const OvModel model_;
};

Result<std::unique_ptr<NativeModel>> LoadNativeOpenVino(const NativeOptions& options, const std::vector<Tensor>& inputs,
                                                        std::vector<Tensor>* outputs) try {
  return std::make_unique<OpenVinoModel>(options, inputs, outputs);
} catch (const std::runtime_error& error) {
  return std::unexpected(error.what());
}

const NativeFramework kOpenVino("openvino", LoadNativeOpenVino);

}  // namespace
}  // namespace wasinn::bench
