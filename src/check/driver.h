// Drives a backend only through backend.h, as the core does.
#ifndef WASINN_CHECK_DRIVER_H_
#define WASINN_CHECK_DRIVER_H_

#include <wasinn/backend.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace wasinn::check {

// The outcome of a call. Converts to true for success.
struct Result {
  wasinn_code code = WASINN_OK;
  std::string message;

  explicit operator bool() const { return code == WASINN_OK; }
};

// Releases the error.
Result TakeError(wasinn_error* error);

std::string ReadFile(const std::string& path);

struct Tensor {
  wasinn_dtype dtype = WASINN_DTYPE_UNKNOWN;
  std::vector<int64_t> dims;
  std::string bytes;

  template <typename T>
  std::vector<T> As() const {
    const auto* data = reinterpret_cast<const T*>(bytes.data());
    return {data, data + bytes.size() / sizeof(T)};
  }
};

template <typename T>
Tensor MakeTensor(wasinn_dtype dtype, std::vector<int64_t> dims, const std::vector<T>& values) {
  return {dtype, std::move(dims), std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T))};
}
inline Tensor Floats(std::vector<int64_t> dims, const std::vector<float>& values) {
  return MakeTensor(WASINN_DTYPE_F32, std::move(dims), values);
}

// The account for a backend's lasting memory.
struct Account {
  uint64_t limit = UINT64_MAX;
  std::atomic<uint64_t> used{0}, most{0};
};

// An opened backend, and its collected log.
class Host {
 public:
  // `backend`: the library's file.
  Host(const std::string& config, uint32_t threads, const std::string& backend);
  ~Host();
  // The name in a library's table.
  static std::string NameIn(const std::string& backend);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const Result& opened() const { return opened_; }
  const wasinn_backend& table() const { return table_; }
  wasinn_backend_state* state() const { return state_; }
  const wasinn_backend_info* info() const;
  // All messages so far, one a line: "warning: …".
  std::string log() const;

 private:
  static void Write(void* self, uint32_t level, const char* message);
  static uint32_t Reserve(void* self, void* account, int64_t bytes);

  const wasinn_backend table_;
  wasinn_host_services services_;
  Result opened_;
  wasinn_backend_state* state_ = nullptr;
  mutable std::mutex mutex_;
  std::string log_;
};

struct LoadOptions {
  std::string encoding = "onnx";
  std::vector<std::string> more_bytes;  // if a model has several builders, the others
  bool keeps_bytes = false;             // the backend may retain them
  std::string path;                     // empty: bytes of a guest
  wasinn_target target = WASINN_TARGET_CPU;
  std::string host_config = "{}";
  std::string guest_config = "{}";
  bool cpu_fallback = false;
  uint64_t max_bytes = 0;
  void* token = nullptr;
  void (*on_cancel)(void* token, void (*cancel)(void* arg), void* arg) = nullptr;
  Account* account = nullptr;  // the host's
};

class Model {
 public:
  // The bytes may be freed once this returns.
  Model(const Host& host, const std::string& bytes, const LoadOptions& options = {});
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const Result& loaded() const { return loaded_; }
  const Host& host() const { return host_; }
  wasinn_backend_graph* get() const { return model_; }
  const wasinn_info& info() const;
  const wasinn_io& input(uint32_t i) const { return *info().inputs[i]; }
  const wasinn_io& output(uint32_t i) const { return *info().outputs[i]; }

 private:
  const Host& host_;
  wasinn_backend_graph* model_ = nullptr;
  Result loaded_;
};

class Context {
 public:
  explicit Context(const Model& model, uint64_t max_bytes = 0, const std::string& guest_config = "{}",
                   Account* account = nullptr);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  wasinn_backend_slot* get() const { return context_; }
  // Like the core: copies the bytes into the context's memory for the input, and binds that if it is not bound yet with
  // the same type and shape.
  Result Set(uint32_t index, const Tensor& tensor);
  // Binds memory of another owner.
  Result Bind(uint32_t index, const wasinn_tensor& tensor);
  void Unbind(uint32_t index);
  // Computes these outputs; none: all. Bindable ones are bound to the context's memory for each.
  Result Compute(const std::vector<uint32_t>& wanted = {});
  // In later computes, these outputs may stay in the graph's own memory, where only Take gets them.
  void Keep(std::vector<uint32_t> outputs);
  // From now on Compute uses compute_async, and waits for the end.
  void ComputeAsync() { is_async_ = true; }
  Result Get(uint32_t index, Tensor* tensor);
  // The output with its memory, which the caller must release.
  Result Take(uint32_t index, wasinn_tensor* out);
  void DiscardOutputs();
  // Prepares the slot for another context: nothing is bound.
  Result Reset();
  // Whether the last compute left bindable outputs elsewhere.
  bool has_outputs_elsewhere() const { return elsewhere_; }
  // For models that generate piece by piece: a step, the newest piece of an output, the end.
  Result Step();
  Result Piece(uint32_t index, std::string* bytes);
  Result Finish();
  // The output's bytes, in place.
  wasinn_tensor View(uint32_t index);
  void Cancel();
  // Compute, with at least one cancel from another thread while it is inside, as the core would call it.
  Result ComputeCancelled();

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<void, Free>;
  static Memory Allocate(size_t bytes);
  struct Bound {
    Memory memory;
    size_t bytes = 0;
    uint32_t dtype = WASINN_DTYPE_UNKNOWN;
    std::vector<int64_t> dims;
  };

  Result BindOutputs();
  bool IsKept(uint32_t output) const;
  wasinn_error* Run(const wasinn_compute_options& options, wasinn_compute_result* result);
  // An output in the context's memory, or the error that there is none; NULL: ask the backend.
  const wasinn_tensor* Own(uint32_t index, Result* result) const;

  const Model& model_;
  wasinn_backend_slot* context_ = nullptr;
  std::map<uint32_t, Bound> bound_;
  struct OwnOutput {
    Memory memory;
    wasinn_tensor tensor;
  };
  std::map<uint32_t, OwnOutput> outputs_;
  std::vector<uint32_t> kept_;
  bool computed_ = false, elsewhere_ = false, is_async_ = false;
};

}  // namespace wasinn::check

#endif  // WASINN_CHECK_DRIVER_H_
