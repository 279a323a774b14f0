#include <dlfcn.h>
#include <tensorflow/c/c_api.h>

#include <cstring>
#include <map>
#include <stdexcept>

#include "reference/reference.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

// The function of this name, of this type.
template <typename Function>
Function* Get(const char* name) {
  static void* const library = dlopen(FrameworkFile("tensorflow").c_str(), RTLD_NOW | RTLD_LOCAL);
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

TF_Tensor* ToNative(const test::Tensor& tensor) {
  static const std::map<wasinn_dtype, TF_DataType> kTypes = {{WASINN_DTYPE_U8, TF_UINT8},
                                                             {WASINN_DTYPE_F32, TF_FLOAT},
                                                             {WASINN_DTYPE_I32, TF_INT32},
                                                             {WASINN_DTYPE_I64, TF_INT64}};
  TF_Tensor* made = TF(TF_AllocateTensor)(kTypes.at(tensor.dtype), tensor.dims.data(),
                                          static_cast<int>(tensor.dims.size()), tensor.bytes.size());
  std::memcpy(TF(TF_TensorData)(made), tensor.bytes.data(), tensor.bytes.size());
  return made;
}

// Lives as long as the program.
struct Opened {
  explicit Opened(const std::string& path) {
    const Status status;
    TF_SessionOptions* options = TF(TF_NewSessionOptions)();
    if (path.ends_with(".pb")) {
      const std::string file = test::ReadFile(path);
      TF_Buffer* buffer = TF(TF_NewBufferFromString)(file.data(), file.size());
      TF(TF_GraphImportGraphDef)(graph, buffer, TF(TF_NewImportGraphDefOptions)(), status.get());
      status.Check();
      session = TF(TF_NewSession)(graph, options, status.get());
    } else {
      const char* const tags[] = {"serve"};
      session = TF(TF_LoadSessionFromSavedModel)(options, nullptr, path.c_str(), tags, 1, graph, nullptr, status.get());
    }
    status.Check();
  }
  TF_Output Find(const std::string& tensor) const {
    const size_t colon = tensor.find(':');
    TF_Operation* operation = TF(TF_GraphOperationByName)(graph, tensor.substr(0, colon).c_str());
    if (operation == nullptr) throw std::runtime_error("no tensor " + tensor);
    return {operation, colon == std::string::npos ? 0 : std::stoi(tensor.substr(colon + 1))};
  }

  TF_Graph* graph = TF(TF_NewGraph)();
  TF_Session* session = nullptr;
};

}  // namespace

Infer OpenModel(const std::string& path, const Names& in, const Names& out) {
  return [model = Opened(path), in, out](const std::vector<test::Tensor>& inputs) {
    std::vector<TF_Output> feeds, fetches;
    std::vector<TF_Tensor*> values, results(out.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      feeds.push_back(model.Find(in.at(i)));
      values.push_back(ToNative(inputs[i]));
    }
    for (const std::string& name : out) fetches.push_back(model.Find(name));
    const Status status;
    TF(TF_SessionRun)
    (model.session, nullptr, feeds.data(), values.data(), static_cast<int>(feeds.size()), fetches.data(),
     results.data(), static_cast<int>(fetches.size()), nullptr, 0, nullptr, status.get());
    status.Check();
    for (TF_Tensor* value : values) TF(TF_DeleteTensor)(value);
    std::vector<test::Tensor> outputs;
    for (TF_Tensor* result : results) {
      outputs.push_back(OfBytes(TF(TF_TensorData)(result), TF(TF_TensorByteSize)(result)));
      TF(TF_DeleteTensor)(result);
    }
    return outputs;
  };
}

}  // namespace wasinn::testing
