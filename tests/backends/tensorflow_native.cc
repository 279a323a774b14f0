#include "backends/tensorflow_native.h"

#include <dlfcn.h>
#include <tensorflow/c/c_api.h>

#include <cstring>
#include <stdexcept>

#include "support/this_build.h"

namespace wasinn::test {

namespace {

constexpr struct {
  TF_DataType tf;
  wasinn_dtype dtype;
} kTypes[] = {
    {TF_HALF, WASINN_F16},   {TF_BFLOAT16, WASINN_BF16}, {TF_FLOAT, WASINN_F32},  {TF_DOUBLE, WASINN_F64},
    {TF_UINT8, WASINN_U8},   {TF_INT8, WASINN_I8},       {TF_UINT16, WASINN_U16}, {TF_INT16, WASINN_I16},
    {TF_UINT32, WASINN_U32}, {TF_INT32, WASINN_I32},     {TF_UINT64, WASINN_U64}, {TF_INT64, WASINN_I64},
    {TF_BOOL, WASINN_BOOL},
};

// The function of this name, of this type.
template <typename Function>
Function* Get(const char* name) {
  static void* const library = dlopen(testing::FrameworkFile("tensorflow").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  void* symbol = dlsym(library, name);
  if (symbol == nullptr) throw std::runtime_error(name);
  return reinterpret_cast<Function*>(symbol);
}
#define TF(name) Get<decltype(::name)>(#name)

class Status {
 public:
  ~Status() { TF(TF_DeleteStatus)(status_); }
  TF_Status* get() const { return status_; }
  void Check() const {
    if (TF(TF_GetCode)(status_) != TF_OK) throw std::runtime_error(TF(TF_Message)(status_));
  }

 private:
  TF_Status* const status_ = TF(TF_NewStatus)();
};

TF_Tensor* ToNative(const Tensor& tensor) {
  for (const auto& type : kTypes) {
    if (type.dtype != tensor.dtype) continue;
    TF_Tensor* made =
        TF(TF_AllocateTensor)(type.tf, tensor.dims.data(), static_cast<int>(tensor.dims.size()), tensor.bytes.size());
    if (!tensor.bytes.empty()) std::memcpy(TF(TF_TensorData)(made), tensor.bytes.data(), tensor.bytes.size());
    return made;
  }
  throw std::runtime_error("dtype");
}

Tensor FromNative(const TF_Tensor* tensor) {
  for (const auto& type : kTypes) {
    if (type.tf != TF(TF_TensorType)(tensor)) continue;
    Tensor made{type.dtype, {}, {}};
    for (int i = 0; i < TF(TF_NumDims)(tensor); ++i) made.dims.push_back(TF(TF_Dim)(tensor, i));
    const size_t bytes = TF(TF_TensorByteSize)(tensor);
    if (bytes > 0) made.bytes.assign(static_cast<const char*>(TF(TF_TensorData)(tensor)), bytes);
    return made;
  }
  throw std::runtime_error("element type");
}

TF_Output Find(TF_Graph* graph, const std::string& tensor) {
  const size_t colon = tensor.find(':');
  TF_Operation* operation = TF(TF_GraphOperationByName)(graph, tensor.substr(0, colon).c_str());
  if (operation == nullptr) throw std::runtime_error("no tensor " + tensor);
  return {operation, colon == std::string::npos ? 0 : std::stoi(tensor.substr(colon + 1))};
}

}  // namespace

struct NativeTensorFlow::Impl {
  ~Impl() {
    const Status closed;
    if (session != nullptr) TF(TF_DeleteSession)(session, closed.get());
    TF(TF_DeleteGraph)(graph);
  }

  TF_Graph* const graph = TF(TF_NewGraph)();
  TF_Session* session = nullptr;
};

NativeTensorFlow::NativeTensorFlow(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NativeTensorFlow::~NativeTensorFlow() = default;
NativeTensorFlow::NativeTensorFlow(NativeTensorFlow&& other) noexcept = default;

NativeTensorFlow NativeTensorFlow::Graph(const std::string& graph) {
  auto impl = std::make_unique<Impl>();
  const Status status;
  TF_Buffer* buffer = TF(TF_NewBufferFromString)(graph.data(), graph.size());
  TF_ImportGraphDefOptions* import = TF(TF_NewImportGraphDefOptions)();
  TF(TF_GraphImportGraphDef)(impl->graph, buffer, import, status.get());
  TF(TF_DeleteImportGraphDefOptions)(import);
  TF(TF_DeleteBuffer)(buffer);
  status.Check();
  TF_SessionOptions* options = TF(TF_NewSessionOptions)();
  impl->session = TF(TF_NewSession)(impl->graph, options, status.get());
  TF(TF_DeleteSessionOptions)(options);
  status.Check();
  return NativeTensorFlow(std::move(impl));
}

NativeTensorFlow NativeTensorFlow::SavedModel(const std::string& folder, const std::vector<std::string>& tags) {
  auto impl = std::make_unique<Impl>();
  const Status status;
  TF_SessionOptions* options = TF(TF_NewSessionOptions)();
  std::vector<const char*> words;
  for (const std::string& tag : tags) words.push_back(tag.c_str());
  impl->session = TF(TF_LoadSessionFromSavedModel)(options, nullptr, folder.c_str(), words.data(),
                                                   static_cast<int>(words.size()), impl->graph, nullptr, status.get());
  TF(TF_DeleteSessionOptions)(options);
  status.Check();
  return NativeTensorFlow(std::move(impl));
}

std::vector<Tensor> NativeTensorFlow::Run(const NamedTensors& inputs, const std::vector<std::string>& outputs) const {
  std::vector<TF_Output> feeds, fetches;
  std::vector<TF_Tensor*> values, results(outputs.size());
  for (const auto& [name, tensor] : inputs) {
    feeds.push_back(Find(impl_->graph, name));
    values.push_back(ToNative(tensor));
  }
  for (const std::string& name : outputs) fetches.push_back(Find(impl_->graph, name));
  const Status status;
  TF(TF_SessionRun)
  (impl_->session, nullptr, feeds.data(), values.data(), static_cast<int>(feeds.size()), fetches.data(), results.data(),
   static_cast<int>(fetches.size()), nullptr, 0, nullptr, status.get());
  for (TF_Tensor* value : values) TF(TF_DeleteTensor)(value);
  std::vector<Tensor> tensors;
  for (TF_Tensor* result : results) {
    if (result == nullptr) continue;
    tensors.push_back(FromNative(result));
    TF(TF_DeleteTensor)(result);
  }
  status.Check();
  return tensors;
}

std::vector<Tensor> RunNativeGraph(const std::string& graph, const NamedTensors& inputs,
                                   const std::vector<std::string>& outputs) {
  return NativeTensorFlow::Graph(graph).Run(inputs, outputs);
}

std::vector<Tensor> RunNativeSavedModel(const std::string& folder, const std::vector<std::string>& tags,
                                        const NamedTensors& inputs, const std::vector<std::string>& outputs) {
  return NativeTensorFlow::SavedModel(folder, tags).Run(inputs, outputs);
}

}  // namespace wasinn::test
