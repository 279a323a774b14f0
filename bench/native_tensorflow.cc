// TensorFlow through its C API. It has the settings of backends/tensorflow: operations run one after the other on the
// caller's thread, each with a pool of the backend's size. TensorFlow makes new outputs in each run, and they are read
// in place.
#include <dlfcn.h>
#include <fmt/format.h>
#include <tensorflow/c/c_api.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "bench/native.h"

namespace wasinn::bench {
namespace {

#define WASINN_BENCH_TF(X)          \
  X(TF_NewStatus)                   \
  X(TF_DeleteStatus)                \
  X(TF_GetCode)                     \
  X(TF_Message)                     \
  X(TF_NewTensor)                   \
  X(TF_DeleteTensor)                \
  X(TF_NumDims)                     \
  X(TF_Dim)                         \
  X(TF_TensorByteSize)              \
  X(TF_TensorData)                  \
  X(TF_NewGraph)                    \
  X(TF_DeleteGraph)                 \
  X(TF_GraphOperationByName)        \
  X(TF_NewImportGraphDefOptions)    \
  X(TF_DeleteImportGraphDefOptions) \
  X(TF_GraphImportGraphDef)         \
  X(TF_NewSessionOptions)           \
  X(TF_DeleteSessionOptions)        \
  X(TF_SetConfig)                   \
  X(TF_NewSession)                  \
  X(TF_DeleteSession)               \
  X(TF_SessionRun)

struct TfFunctions {
#define WASINN_BENCH_MEMBER(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses): declares
  WASINN_BENCH_TF(WASINN_BENCH_MEMBER)
#undef WASINN_BENCH_MEMBER

  explicit TfFunctions(const std::string& path) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed
    if (handle == nullptr) throw std::runtime_error(dlerror());
    const auto find = [&](const char* name) {
      void* symbol = dlsym(handle, name);
      if (symbol == nullptr) throw std::runtime_error(fmt::format("{} has no {}", path, name));
      return symbol;
    };
#define WASINN_BENCH_FIND(name) name = reinterpret_cast<decltype(name)>(find(#name));
    WASINN_BENCH_TF(WASINN_BENCH_FIND)
#undef WASINN_BENCH_FIND
  }

  void Check(const TF_Status* status) const {
    if (TF_GetCode(status) != TF_OK) throw std::runtime_error(fmt::format("TensorFlow: {}", TF_Message(status)));
  }
};

template <typename T>
using TfOwned = std::unique_ptr<T, void (*)(T*)>;

TF_DataType ToTf(Dtype dtype) {
  switch (dtype) {
    case WASINN_DTYPE_F16:
      return TF_HALF;
    case WASINN_DTYPE_BF16:
      return TF_BFLOAT16;
    case WASINN_DTYPE_F32:
      return TF_FLOAT;
    case WASINN_DTYPE_F64:
      return TF_DOUBLE;
    case WASINN_DTYPE_U8:
      return TF_UINT8;
    case WASINN_DTYPE_I8:
      return TF_INT8;
    case WASINN_DTYPE_U16:
      return TF_UINT16;
    case WASINN_DTYPE_I16:
      return TF_INT16;
    case WASINN_DTYPE_U32:
      return TF_UINT32;
    case WASINN_DTYPE_I32:
      return TF_INT32;
    case WASINN_DTYPE_U64:
      return TF_UINT64;
    case WASINN_DTYPE_I64:
      return TF_INT64;
    case WASINN_DTYPE_BOOL:
      return TF_BOOL;
    case WASINN_DTYPE_UNKNOWN:
      break;
  }
  throw std::runtime_error("an input of unknown type");
}

// The parts that runners share.
struct TfSession {
  TfSession(const NativeOptions& options, const std::vector<Tensor>& model_inputs, std::vector<Tensor>* model_outputs)
      : api(options.library), inputs(model_inputs), outputs(model_outputs) {
    std::ifstream file(options.path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    // A GraphDef begins with a node, and a SavedModel with a number.
    if (bytes.empty() || bytes[0] != '\x0a') {
      throw std::runtime_error(fmt::format("{}: bench compares frozen graphs of TensorFlow only", options.path));
    }
    const TfOwned<TF_Status> status(api.TF_NewStatus(), api.TF_DeleteStatus);
    graph = {api.TF_NewGraph(), api.TF_DeleteGraph};
    const TfOwned<TF_ImportGraphDefOptions> import(api.TF_NewImportGraphDefOptions(),
                                                   api.TF_DeleteImportGraphDefOptions);
    const TF_Buffer buffer = {.data = bytes.data(), .length = bytes.size(), .data_deallocator = nullptr};
    api.TF_GraphImportGraphDef(graph.get(), &buffer, import.get(), status.get());
    api.Check(status.get());
    const TfOwned<TF_SessionOptions> session_options(api.TF_NewSessionOptions(), api.TF_DeleteSessionOptions);
    // intra_op_parallelism_threads = threads, inter_op_parallelism_threads = -1.
    std::string config = {'\x10', static_cast<char>(std::min(options.threads, 127)), '\x28'};
    config += std::string(9, '\xff') + '\x01';
    api.TF_SetConfig(session_options.get(), config.data(), config.size(), status.get());
    api.Check(status.get());
    session = api.TF_NewSession(graph.get(), session_options.get(), status.get());
    api.Check(status.get());
  }
  ~TfSession() {
    const TfOwned<TF_Status> status(api.TF_NewStatus(), api.TF_DeleteStatus);
    if (session != nullptr) api.TF_DeleteSession(session, status.get());
  }
  TfSession(const TfSession&) = delete;
  TfSession& operator=(const TfSession&) = delete;

  TF_Output Find(const std::string& tensor) const {
    const size_t colon = tensor.find(':');
    TF_Operation* operation = api.TF_GraphOperationByName(graph.get(), tensor.substr(0, colon).c_str());
    if (operation == nullptr) throw std::runtime_error(fmt::format("the graph has no tensor '{}'", tensor));
    return {operation, colon == std::string::npos ? 0 : std::stoi(tensor.substr(colon + 1))};
  }

  const TfFunctions api;
  const std::vector<Tensor>& inputs;
  std::vector<Tensor>* const outputs;
  TfOwned<TF_Graph> graph{nullptr, nullptr};
  TF_Session* session = nullptr;
};

class TfRunner final : public NativeRunner {
 public:
  explicit TfRunner(const TfSession& session)
      : session_(session), api_(session.api), status_(api_.TF_NewStatus(), api_.TF_DeleteStatus) {
    for (const Tensor& input : session.inputs) {
      buffers_.emplace_back(input.data.size());
      std::memcpy(buffers_.back().data(), input.data.bytes().data(), input.data.size());
      feeds_.push_back(session.Find(input.name));
      values_.emplace_back(api_.TF_NewTensor(
                               ToTf(input.dtype), input.dims.data(), static_cast<int>(input.dims.size()),
                               buffers_.back().data(), input.data.size(), [](void*, size_t, void*) {}, nullptr),
                           api_.TF_DeleteTensor);
      raw_values_.push_back(values_.back().get());
    }
    for (const Tensor& output : *session.outputs) fetches_.push_back(session.Find(output.name));
    results_.resize(fetches_.size());
  }
  ~TfRunner() override { ReleaseResults(); }
  TfRunner(const TfRunner&) = delete;
  TfRunner& operator=(const TfRunner&) = delete;

  bool Run() override {
    ReleaseResults();
    api_.TF_SessionRun(session_.session, nullptr, feeds_.data(), raw_values_.data(), static_cast<int>(feeds_.size()),
                       fetches_.data(), results_.data(), static_cast<int>(fetches_.size()), nullptr, 0, nullptr,
                       status_.get());
    return api_.TF_GetCode(status_.get()) == TF_OK;
  }

  // Sets shapes and sizes after a run.
  void Describe(std::vector<Tensor>* outputs) const {
    for (size_t i = 0; i < results_.size(); ++i) {
      Tensor& output = (*outputs)[i];
      output.dims.clear();
      for (int d = 0; d < api_.TF_NumDims(results_[i]); ++d) output.dims.push_back(api_.TF_Dim(results_[i], d));
      output.data = Buffer(api_.TF_TensorByteSize(results_[i]));
    }
  }

  std::string error() const override { return fmt::format("TensorFlow: {}", api_.TF_Message(status_.get())); }
  std::span<uint8_t> input(size_t i) override { return buffers_[i].bytes(); }
  std::span<const uint8_t> output(size_t i) const override {
    return {static_cast<const uint8_t*>(api_.TF_TensorData(results_[i])), api_.TF_TensorByteSize(results_[i])};
  }

 private:
  void ReleaseResults() {
    for (TF_Tensor*& result : results_) {
      if (result != nullptr) api_.TF_DeleteTensor(std::exchange(result, nullptr));
    }
  }

  const TfSession& session_;
  const TfFunctions& api_;
  TfOwned<TF_Status> status_;
  std::vector<Buffer> buffers_;
  std::vector<TfOwned<TF_Tensor>> values_;
  std::vector<TF_Output> feeds_, fetches_;
  std::vector<TF_Tensor*> raw_values_, results_;
};

class TfModel final : public NativeModel {
 public:
  TfModel(const NativeOptions& options, const std::vector<Tensor>& inputs, std::vector<Tensor>* outputs)
      : session_(options, inputs, outputs) {
    TfRunner runner(session_);
    if (!runner.Run()) throw std::runtime_error(runner.error());
    runner.Describe(outputs);
  }

  Result<std::unique_ptr<NativeRunner>> NewRunner() const override try {
    auto runner = std::make_unique<TfRunner>(session_);
    if (!runner->Run()) return std::unexpected(runner->error());
    return runner;
  } catch (const std::exception& error) {
    return std::unexpected(error.what());
  }

 private:
  const TfSession session_;
};

Result<std::unique_ptr<NativeModel>> LoadNativeTensorFlow(const NativeOptions& options,
                                                          const std::vector<Tensor>& inputs,
                                                          std::vector<Tensor>* outputs) try {
  return std::make_unique<TfModel>(options, inputs, outputs);
} catch (const std::exception& error) {
  return std::unexpected(error.what());
}

const NativeFramework kTensorFlow("tensorflow", LoadNativeTensorFlow);

}  // namespace
}  // namespace wasinn::bench
