// A whole backend as a starting point. A model is "AFF1", two floats a and b, and a number n (u32), all little-endian;
// it takes n elements of f32, or any shape if n is 0, and computes y = a * x + b for each. docs/backend-guide.md
// explains it. TableOf (common/table.h) makes the table of wasinn/backend.h from three classes, whose members throw.
#include <cstring>
#include <string>
#include <vector>

#include "common/table.h"

namespace {

using wasinn::backend::Error;

void Expect(bool right, const char* message) {
  if (!right) throw Error(WASINN_ERROR_INVALID_ARGUMENT, message);
}

// The opened framework, which all graphs share; this backend has none. An exception reports that it is missing.
struct Host {
  // The services have a log, a budget of threads, and `reserve` for memory other than inputs, models and outputs.
  Host(const wasinn_host_services& /*services*/, const char* /*config*/) {}
  const wasinn_backend_info* info() const { return &info_; }
  const wasinn_backend_info info_ = {sizeof(wasinn_backend_info), "plain arithmetic", "1", "", "cpu"};
};

constexpr char kMagic[] = "AFF1";
constexpr size_t kMagicSize = 4;
struct Numbers {
  float a, b;
  uint32_t n;
};

// A loaded model, which many slots share. Its bytes may be an attacker's.
class Graph {
 public:
  Graph(Host& /*host*/, std::span<const wasinn_builder> builders, const wasinn_load_options& options) {
    Expect(builders.size() == 1, "expected one builder");
    const wasinn_builder& builder = builders.front();
    if (builder.size != kMagicSize + sizeof numbers || std::memcmp(builder.data, kMagic, kMagicSize) != 0)
      throw Error(WASINN_ERROR_INVALID_ENCODING, "expected AFF1 and 12 bytes: found " + std::to_string(builder.size));
    const bool is_cpu = options.target == WASINN_TARGET_CPU || options.target == WASINN_TARGET_AUTO;
    if (!is_cpu && options.cpu_fallback == 0) throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION, "only cpu is there");
    std::memcpy(&numbers, builder.data + kMagicSize, sizeof numbers);
    if (numbers.n == 0) return;
    dims_[0] = numbers.n;
    x_.rank = y_.rank = 1;
    y_.flags = WASINN_IO_BINDABLE;  // the shape is known, so y is in the host's memory
  }
  const wasinn_info* info() const { return &info_; }
  Numbers numbers;

 private:
  int64_t dims_[1] = {-1};
  wasinn_io x_ = {sizeof(wasinn_io), WASINN_DTYPE_F32, 0, -1, dims_, "x", "f32"};  // of any shape
  wasinn_io y_ = {sizeof(wasinn_io), WASINN_DTYPE_F32, 0, -1, dims_, "y", "f32"};
  const wasinn_io* const inputs_[1] = {&x_};
  const wasinn_io* const outputs_[1] = {&y_};
  const wasinn_info info_ = {sizeof(wasinn_info), 1, 1, inputs_, outputs_, 0 /* max_parallel: any */, 0};
};

// One inference. Its functions are called one at a time; only Cancel may run at the same time.
class Slot {
 public:
  Slot(Graph& graph, const wasinn_slot_options& options) : model_(graph.numbers), max_bytes_(options.max_bytes) {}

  void BindInput(uint32_t index, const wasinn_tensor& tensor) {
    Check(index);
    x_ = nullptr;  // even if the new one is refused
    size_t elements = 1;
    for (uint32_t i = 0; i < tensor.rank; ++i) elements *= static_cast<size_t>(tensor.dims[i]);
    const bool fits = (model_.n == 0 || elements == model_.n) && tensor.bytes == elements * sizeof(float);
    Expect(fits && tensor.dtype == WASINN_DTYPE_F32, "input 'x': expected n of f32, with the bytes that its dims say");
    dims_.assign(tensor.dims, tensor.dims + tensor.rank);
    elements_ = elements;
    static constexpr float kNothing = 0;
    x_ = elements == 0 ? &kNothing : static_cast<const float*>(tensor.data);
  }
  void UnbindInput(uint32_t /*index*/) { x_ = nullptr; }
  void BindOutput(uint32_t index, const wasinn_tensor& tensor) {
    Check(index);
    bound_ = nullptr;
    Expect(model_.n != 0 && tensor.bytes == model_.n * sizeof(float), "output 'y' cannot be bound to other sizes");
    bound_ = static_cast<float*>(tensor.data);
  }

  // wasinn_compute_options names the wanted outputs: a backend that can leave some out has them as a parameter.
  void Compute() {
    has_output_ = false;
    Expect(x_ != nullptr, "input 'x' is not set");
    Expect(model_.n == 0 || bound_ != nullptr, "output 'y' is not bound");
    if (model_.n == 0) {
      if (max_bytes_ != 0 && elements_ * sizeof(float) > max_bytes_)
        throw Error(WASINN_ERROR_TOO_LARGE, "output 'y' would have more than " + std::to_string(max_bytes_) + " bytes");
      y_.resize(elements_);
      y_dims_ = dims_;
    }
    float* y = model_.n == 0 ? y_.data() : bound_;
    for (size_t i = 0; i < elements_; ++i) y[i] = model_.a * x_[i] + model_.b;
    has_output_ = true;
  }
  // A long compute would check now and then whether it should end; this one is never long.
  void Cancel() {}

  void Output(uint32_t index, wasinn_tensor* view) {
    Check(index);
    Expect(has_output_ && model_.n == 0, "output 'y' is not there: nothing was computed");
    const auto rank = static_cast<uint32_t>(y_dims_.size());
    *view = {sizeof(wasinn_tensor), WASINN_DTYPE_F32, rank, y_dims_.data(), y_.data(), 4 * y_.size(), nullptr, nullptr};
  }
  void DiscardOutputs() {
    has_output_ = false;
    std::vector<float>().swap(y_);
  }

 private:
  static void Check(uint32_t index) { Expect(index == 0, "there is one input and one output: 0"); }

  const Numbers model_;
  const uint64_t max_bytes_;
  const float* x_ = nullptr;  // the host's memory
  float* bound_ = nullptr;    // the same
  size_t elements_ = 0;
  std::vector<int64_t> dims_, y_dims_;
  std::vector<float> y_;
  bool has_output_ = false;
};

constexpr const char* kEndings[] = {".affine"};
constexpr wasinn_magic kMagics[] = {{0, kMagicSize, kMagic}};
constexpr wasinn_format kFormat = {.struct_size = sizeof(wasinn_format),
                                   .name = "affine",
                                   .endings = kEndings,
                                   .n_endings = std::size(kEndings),
                                   .magics = kMagics,
                                   .n_magics = std::size(kMagics)};
constexpr const wasinn_format* kFormats[] = {&kFormat};

}  // namespace

const wasinn_backend* wasinn_backend_query(uint16_t host_abi_major, uint16_t /*host_abi_minor*/) {
  static const wasinn_backend table = wasinn::backend::TableOf<Host, Graph, Slot>::Make(
      {.name = "template", .version = "1.0", .formats = kFormats, .keys = {}, .install = ""});
  return host_abi_major == WASINN_BACKEND_ABI_MAJOR ? &table : nullptr;
}
