// wasinn/inference.hpp - inferences by the host's own program, without WebAssembly: wit.h for C++17. Header-only.
//
//     wasinn::Result<wasinn::Guest> guest = wasinn::Guest::Create(*host);
//     wasinn::Result<wasinn::Graph> graph = wasinn::Graph::LoadByName(*guest, "digits");
//     wasinn::Result<wasinn::Context> context = wasinn::Context::Create(*graph);
//     const std::vector<float> pixels(64);
//     auto outputs = context->Compute({{"image", wasinn::Input({1, 1, 8, 8}, pixels)}});
//     if (!outputs) return Fail(outputs.status().message());
//     const auto probabilities = outputs->find("probabilities");
//
// All limits and policies of the guest hold. Graph, Context and Tensor are move-only, own one resource of the guest
// each, and must not outlive the guest. A guest may be used from any thread; a Context by one thread at a time: a
// second one gets BUSY.
#ifndef WASINN_INFERENCE_HPP_
#define WASINN_INFERENCE_HPP_

#include <wasinn/wit.h>
#include <wasinn/wasinn.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace wasinn {

namespace internal {
// The Dtype of an arithmetic type of C++.
template <typename T>
constexpr Dtype DtypeOf() {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8 && !std::is_same_v<T, long double>,
                "use the constructor with a Dtype");
  if (std::is_same_v<T, bool>) return WASINN_DTYPE_BOOL;
  if (std::is_floating_point_v<T>) return sizeof(T) == 4 ? WASINN_DTYPE_F32 : WASINN_DTYPE_F64;
  switch (sizeof(T)) {
    case 1:
      return std::is_signed_v<T> ? WASINN_DTYPE_I8 : WASINN_DTYPE_U8;
    case 2:
      return std::is_signed_v<T> ? WASINN_DTYPE_I16 : WASINN_DTYPE_U16;
    case 4:
      return std::is_signed_v<T> ? WASINN_DTYPE_I32 : WASINN_DTYPE_U32;
    default:
      return std::is_signed_v<T> ? WASINN_DTYPE_I64 : WASINN_DTYPE_U64;
  }
}
}  // namespace internal

// An input. Its bytes are borrowed: they must stay until Compute or Start has returned.
class Input {
 public:
  // `bytes` must be whole elements: others are an error of the inference.
  Input(Dtype dtype, std::vector<int64_t> dims, const void* data, size_t bytes)
      : dtype_(dtype), dims_(std::move(dims)), data_(static_cast<const uint8_t*>(data)), bytes_(bytes) {}
  // Takes the Dtype of the elements.
  template <typename T>
  Input(std::vector<int64_t> dims, const T* elements, size_t count)
      : Input(internal::DtypeOf<T>(), std::move(dims), elements, count * sizeof(T)) {}
  template <typename T>
  Input(std::vector<int64_t> dims, const std::vector<T>& elements)
      : Input(std::move(dims), elements.data(), elements.size()) {}
  template <typename T>
  Input(std::vector<int64_t> dims, std::vector<T>&& elements) = delete;  // they would be destroyed
  // A text for a language model.
  explicit Input(std::string_view text)
      : Input(WASINN_DTYPE_U8, {static_cast<int64_t>(text.size())}, text.data(), text.size()) {}

 private:
  friend class Context;
  Dtype dtype_;
  std::vector<int64_t> dims_;
  const uint8_t* data_;
  size_t bytes_;
};

namespace internal {
// The types of wasi:nn, by their numbers there.
inline constexpr Dtype kWitTypes[] = {WASINN_DTYPE_F16, WASINN_DTYPE_F32, WASINN_DTYPE_F64, WASINN_DTYPE_BF16,
                                      WASINN_DTYPE_U8,  WASINN_DTYPE_I32, WASINN_DTYPE_I64};

// The type of wasi:nn that carries `dtype` bit for bit; for 16-bit integers with the last dimension doubled.
inline Dtype CarrierOf(Dtype dtype) {
  switch (dtype) {
    case WASINN_DTYPE_I8:
    case WASINN_DTYPE_BOOL:
    case WASINN_DTYPE_U16:
    case WASINN_DTYPE_I16:
      return WASINN_DTYPE_U8;
    case WASINN_DTYPE_U32:
      return WASINN_DTYPE_I32;
    case WASINN_DTYPE_U64:
      return WASINN_DTYPE_I64;
    default:
      return dtype;
  }
}

// Releases a view in its destructor.
class View {
 public:
  View() = default;
  View(View&& other) noexcept : view_(std::exchange(other.view_, {})) {}
  View& operator=(View&& other) noexcept {
    std::swap(view_, other.view_);
    return *this;
  }
  ~View() {
    if (view_.release != nullptr) view_.release(view_.owner);
  }
  wasinn_wit_view* get() { return &view_; }
  size_t size() const { return view_.count; }
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(view_.data);
  }
  std::string_view text() const { return {data<char>(), size()}; }

 private:
  wasinn_wit_view view_ = {};
};

// Drops a guest's resource in its destructor.
class Resource {
 public:
  using DropFunction = wasinn_status* (*)(wasinn_guest* guest, uint32_t rep);
  Resource(wasinn_guest* guest, uint32_t rep, DropFunction drop) : guest_(guest), rep_(rep), drop_(drop) {}
  Resource(Resource&& other) noexcept : guest_(other.guest_), rep_(std::exchange(other.rep_, 0)), drop_(other.drop_) {}
  Resource& operator=(Resource&& other) noexcept {
    if (this == &other) return *this;
    Drop();
    guest_ = other.guest_;
    rep_ = std::exchange(other.rep_, 0);
    drop_ = other.drop_;
    return *this;
  }
  ~Resource() { Drop(); }
  wasinn_guest* guest() const { return guest_; }
  uint32_t rep() const { return rep_; }
  uint32_t release() { return std::exchange(rep_, 0); }

 private:
  void Drop() {
    if (rep_ != 0) wasinn_status_free(drop_(guest_, std::exchange(rep_, 0)));
  }

  wasinn_guest* guest_;
  uint32_t rep_;
  DropFunction drop_;
};

// The Status of a call of wit.h: its own error, or the one that it made for the guest.
inline Status Outcome(wasinn_guest* guest, wasinn_status* status, const wasinn_wit_result& result) {
  const wasinn_wit_functions& wit = *wasinn_wit();
  if (status != nullptr || result.is_error == 0) return Status(status);
  const Resource error(guest, result.rep, wit.error_drop);
  uint32_t code = WASINN_ERROR_RUNTIME;
  View message;
  if (Status read(wit.error_status(guest, result.rep, &code)); !read) return read;
  if (Status read(wit.error_data(guest, result.rep, message.get())); !read) return read;
  return Status(wasinn_status_new(static_cast<Code>(code), std::string(message.text()).c_str()));
}
}  // namespace internal

// An output. Its memory is the host's, and valid as long as this object.
class Tensor {
 public:
  // One of wasi:nn's types (docs/abi.md): i8 and bool come as u8, u32 as i32, u64 as i64, and 16-bit integers as u8
  // with the last dimension doubled.
  Dtype dtype() const { return dtype_; }
  std::vector<int64_t> dims() const {
    return std::vector<int64_t>(dims_.data<uint32_t>(), dims_.data<uint32_t>() + dims_.size());
  }
  size_t bytes() const { return data_.size(); }
  template <typename T>
  const T* data() const {
    return data_.data<T>();
  }
  std::string_view text() const { return data_.text(); }

 private:
  friend class Context;
  explicit Tensor(internal::Resource tensor) : tensor_(std::move(tensor)) {}

  static Result<Tensor> Read(internal::Resource resource) {
    const wasinn_wit_functions& wit = *wasinn_wit();
    Tensor tensor(std::move(resource));
    wasinn_guest* const guest = tensor.tensor_.guest();
    const uint32_t rep = tensor.tensor_.rep();
    uint32_t type = 0;
    if (Status status(wit.tensor_type(guest, rep, &type)); !status) return status;
    if (Status status(wit.tensor_dimensions(guest, rep, tensor.dims_.get())); !status) return status;
    if (Status status(wit.tensor_data(guest, rep, tensor.data_.get())); !status) return status;
    tensor.dtype_ = internal::kWitTypes[type];
    return tensor;
  }

  internal::Resource tensor_;
  Dtype dtype_ = WASINN_DTYPE_UNKNOWN;
  internal::View dims_, data_;
};

// A loaded model. All guests that name it share it.
class Graph {
 public:
  // A model with a name in the host: "digits", "digits:2". `config`: a JSON object of keys that guests may set; empty:
  // none.
  static Result<Graph> LoadByName(const Guest& guest, std::string_view name, std::string_view config = {}) {
    const wasinn_wit_functions& wit = *wasinn_wit();
    wasinn_wit_result result = {};
    wasinn_status* const status = config.empty()
                                      ? wit.graph_load_by_name(guest.get(), name.data(), name.size(), &result)
                                      : wit.graph_load_by_name_with_config(guest.get(), name.data(), name.size(),
                                                                           config.data(), config.size(), &result);
    return Made(guest, status, result);
  }
  // A model of the guest's own. The guest's policy decides where it runs: by default in a worker. The bytes are copied.
  static Result<Graph> Load(const Guest& guest, const std::vector<wasinn_bytes>& builders,
                            std::string_view encoding = "autodetect", Target target = WASINN_TARGET_CPU) {
    wasinn_wit_result result = {};
    wasinn_status* const status = wasinn_wit()->graph_load_as(guest.get(), builders.data(), builders.size(),
                                                              encoding.data(), encoding.size(), target, &result);
    return Made(guest, status, result);
  }

  // The model as a JSON object: backend, inputs, outputs … (docs/abi.md, `describe`).
  Result<std::string> Describe() const {
    internal::View text;
    if (Status status(wasinn_wit()->describe(graph_.guest(), graph_.rep(), text.get())); !status) return status;
    return std::string(text.text());
  }

 private:
  friend class Context;
  explicit Graph(internal::Resource graph) : graph_(std::move(graph)) {}

  static Result<Graph> Made(const Guest& guest, wasinn_status* status, const wasinn_wit_result& result) {
    if (Status made = internal::Outcome(guest.get(), status, result); !made) return made;
    return Graph(internal::Resource(guest.get(), result.rep, wasinn_wit()->graph_drop));
  }

  internal::Resource graph_;
};

// Runs inferences on a graph, one at a time. Make one and use it for many.
class Context {
 public:
  static Result<Context> Create(const Graph& graph) {
    wasinn_guest* const guest = graph.graph_.guest();
    wasinn_wit_result result = {};
    wasinn_status* const status = wasinn_wit()->graph_init_execution_context(guest, graph.graph_.rep(), &result);
    if (Status made = internal::Outcome(guest, status, result); !made) return made;
    return Context(internal::Resource(guest, result.rep, wasinn_wit()->context_drop));
  }

  using Inputs = std::map<std::string, Input>;
  using Outputs = std::map<std::string, Tensor>;

  // One inference. Names of inputs are the model's, or "0", "1" …; types and shapes must be the model's.
  Result<Outputs> Compute(const Inputs& inputs) {
    const wasinn_wit_functions& wit = *wasinn_wit();
    Result<Named> named = Name(inputs);
    if (!named) return std::move(named).status();
    wasinn_wit_result result = {};
    internal::View view;
    const std::vector<wasinn_wit_named_tensor> given = named->Release();
    wasinn_status* const status =
        wit.context_compute(guest(), context_.rep(), given.data(), given.size(), &result, view.get());
    if (Status computed = internal::Outcome(guest(), status, result); !computed) return computed;
    std::vector<std::pair<std::string, internal::Resource>> resources;
    for (size_t i = 0; i < view.size(); ++i) {
      const wasinn_wit_named_tensor& output = view.data<wasinn_wit_named_tensor>()[i];
      resources.emplace_back(std::string(output.name, output.name_size),
                             internal::Resource(guest(), output.tensor, wit.tensor_drop));
    }
    Outputs outputs;
    for (auto& [name, resource] : resources) {
      Result<Tensor> tensor = Tensor::Read(std::move(resource));
      if (!tensor) return std::move(tensor).status();
      outputs.emplace(name, std::move(*tensor));
    }
    return outputs;
  }

  // Selects the outputs of later computes. None: all of them.
  Status SelectOutputs(const std::vector<std::string>& names) {
    std::vector<wasinn_bytes> list;
    for (const std::string& name : names) list.push_back({reinterpret_cast<const uint8_t*>(name.data()), name.size()});
    wasinn_wit_result result = {};
    wasinn_status* const status =
        wasinn_wit()->context_select_outputs(guest(), context_.rep(), list.data(), list.size(), &result);
    return internal::Outcome(guest(), status, result);
  }

  // Begins a generation. Next returns its pieces, and no value at its end. Always call Finish, which ends it.
  Status Start(const Inputs& inputs) {
    Result<Named> named = Name(inputs);
    if (!named) return std::move(named).status();
    wasinn_wit_result result = {};
    const std::vector<wasinn_wit_named_tensor> given = named->Release();
    wasinn_status* const status =
        wasinn_wit()->context_start(guest(), context_.rep(), given.data(), given.size(), &result);
    return internal::Outcome(guest(), status, result);
  }
  Result<std::optional<std::string>> Next() {
    wasinn_wit_result result = {};
    uint32_t has_piece = 0;
    internal::View piece;
    wasinn_status* const status = wasinn_wit()->context_next(guest(), context_.rep(), &result, &has_piece, piece.get());
    if (Status outcome = internal::Outcome(guest(), status, result); !outcome) return outcome;
    return has_piece == 0 ? std::nullopt : std::optional(std::string(piece.text()));
  }
  Status Finish() {
    wasinn_wit_result result = {};
    return internal::Outcome(guest(), wasinn_wit()->context_finish(guest(), context_.rep(), &result), result);
  }

 private:
  explicit Context(internal::Resource context) : context_(std::move(context)) {}
  wasinn_guest* guest() const { return context_.guest(); }

  // The inputs as tensors of the guest. A call that gets them consumes them.
  struct Named {
    std::vector<std::pair<std::string_view, internal::Resource>> tensors;

    std::vector<wasinn_wit_named_tensor> Release() {
      std::vector<wasinn_wit_named_tensor> named;
      named.reserve(tensors.size());
      for (auto& [name, tensor] : tensors) named.push_back({name.data(), name.size(), tensor.release()});
      return named;
    }
  };
  static Status NoDimension(const std::string& name, int64_t dim, int64_t most) {
    const std::string why = "input '" + name + "': expected a dimension from 0 to " + std::to_string(most) +
                            ", found " + std::to_string(dim);
    return Status(wasinn_status_new(WASINN_ERROR_INVALID_ARGUMENT, why.c_str()));
  }
  Result<Named> Name(const Inputs& inputs) const {
    const wasinn_wit_functions& wit = *wasinn_wit();
    Named named;
    for (const auto& [name, input] : inputs) {
      const Dtype carrier = internal::CarrierOf(input.dtype_);
      uint32_t type = 0;
      while (type < std::size(internal::kWitTypes) && internal::kWitTypes[type] != carrier) ++type;
      const int64_t width = input.dtype_ == WASINN_DTYPE_U16 || input.dtype_ == WASINN_DTYPE_I16 ? 2 : 1;
      std::vector<uint32_t> dims;
      for (const int64_t dim : input.dims_) {
        const bool is_last = dims.size() + 1 == input.dims_.size();
        const int64_t most = std::numeric_limits<uint32_t>::max() / (is_last ? width : 1);
        if (dim < 0 || dim > most) return NoDimension(name, dim, most);
        dims.push_back(static_cast<uint32_t>(dim * (is_last ? width : 1)));
      }
      if (width > 1 && dims.empty()) dims.push_back(2);
      uint32_t rep = 0;
      Status made(wit.tensor_new(guest(), dims.data(), dims.size(), type, input.data_, input.bytes_, &rep));
      if (!made) return made;
      named.tensors.emplace_back(name, internal::Resource(guest(), rep, wit.tensor_drop));
    }
    return named;
  }

  internal::Resource context_;
};

}  // namespace wasinn

#endif  // WASINN_INFERENCE_HPP_
