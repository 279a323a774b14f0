// wasi_nn.hpp: wasi_nn.h for guests written in C++20, without exceptions.
//
//   wasi_nn::Graph graph;
//   wasi_nn::Context context;
//   std::vector<float> image(64), scores;
//   if (wasi_nn::Status s = graph.load_by_name("digits"); !s) return fail(s.name());
//   if (wasi_nn::Status s = context.init(graph); !s) return fail(s.name());
//   if (wasi_nn::Status s = context.set_input(0, image, {1, 1, 8, 8}); !s) return fail(s.name());
//   if (wasi_nn::Status s = context.compute(); !s) return fail(s.name());
//   if (wasi_nn::Status s = context.get_output(0, scores); !s) return fail(s.name());
//
// The methods have the standard's names. wasi_nn.h says what each does, and which errors it returns.
#ifndef WASINN_GUEST_CPP_WASI_NN_HPP_
#define WASINN_GUEST_CPP_WASI_NN_HPP_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "wasi_nn.h"

namespace wasi_nn {

// The name of an error code, as the standard writes it.
inline std::string_view name_of(wasi_nn_errno code) { return wasi_nn_errno_name(code); }

// What every call returns: true when it succeeded.
class [[nodiscard]] Status {
 public:
  constexpr Status(wasi_nn_errno code = WASI_NN_SUCCESS) : code_(code) {}
  constexpr explicit operator bool() const { return code_ == WASI_NN_SUCCESS; }
  constexpr wasi_nn_errno code() const { return code_; }
  std::string_view name() const { return name_of(code_); }

 private:
  wasi_nn_errno code_;
};

// The bits of a half-precision number; C++20 has no such type.
struct Half {
  uint16_t bits;
};

// The tensor type of T. If the standard has no number for T, this is the number that wasinn takes for it.
template <typename T>
constexpr wasi_nn_type type_of() {
  if constexpr (std::is_same_v<T, Half>) {
    return WASI_NN_F16;
  } else if constexpr (std::is_same_v<T, float>) {
    return WASI_NN_F32;
  } else if constexpr (std::is_same_v<T, double>) {
    return WASI_NN_F64;
  } else {
    static_assert(std::is_integral_v<T> && sizeof(T) != 2, "no tensor type for this T");
    return sizeof(T) == 1 ? WASI_NN_U8 : sizeof(T) == 4 ? WASI_NN_I32 : WASI_NN_I64;
  }
}

// A tensor with the elements of `data`: a vector, array or span of the input's element type. It owns neither the
// elements nor the dims.
template <typename Range>
wasi_nn_tensor tensor_of(const Range& data, std::span<const uint32_t> dims) {
  std::span elements(data);
  using T = std::remove_cv_t<typename decltype(elements)::element_type>;
  return {dims.data(),     static_cast<uint32_t>(dims.size()),          type_of<T>(), {},
          elements.data(), static_cast<uint32_t>(elements.size_bytes())};
}

// Fills `out`, a vector or string, by `call(buffer, size, &written)`: a function like wasi_nn_get_output. `out` grows
// or shrinks to the number of elements. If it is used again it already has its size, so only the first time needs two
// calls. Some hosts do not report the needed size; this then returns too_large, and `out` must be sized before.
template <typename Out, typename Call>
Status fill(Out& out, Call call) {
  using T = typename Out::value_type;
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no array; use uint8_t");
  // Without exceptions the program ends if a vector gets no memory, so refuse large sizes before.
  constexpr size_t kMaxOutput = size_t{1} << 30;
  for (;;) {
    const size_t room = out.size() * sizeof(T);
    uint32_t bytes = 0;
    Status status = call(out.data(), static_cast<uint32_t>(room), &bytes);
    if (status) {
      // These are not whole elements: the output has another type than T.
      if (bytes % sizeof(T) != 0) return WASI_NN_INVALID_ARGUMENT;
      out.resize(bytes / sizeof(T));
      return status;
    }
    if (status.code() != WASI_NN_TOO_LARGE || bytes <= room || bytes > kMaxOutput) return status;
    out.resize((bytes + sizeof(T) - 1) / sizeof(T));
  }
}

// A loaded model. It is a plain handle: copies mean the same model, which lives until the guest ends.
class Graph {
 public:
  Graph() = default;
  explicit Graph(wasi_nn_graph handle) : handle_(handle) {}

  // Loads a model of one part from its bytes. The guest may free the bytes afterwards.
  Status load(std::span<const uint8_t> bytes, wasi_nn_encoding encoding, wasi_nn_target target = WASI_NN_TARGET_CPU) {
    wasi_nn_builder builder = {bytes.data(), static_cast<uint32_t>(bytes.size())};
    return wasi_nn_load(&builder, 1, encoding, target, &handle_);
  }

  // Gets a model that the host offers under a name.
  Status load_by_name(std::string_view name) {
    return wasi_nn_load_by_name(name.data(), static_cast<uint32_t>(name.size()), &handle_);
  }

  wasi_nn_graph handle() const { return handle_; }

 private:
  wasi_nn_graph handle_ = 0;
};

// The inputs and outputs of one inference at a time on a graph. It is a plain handle like Graph. Make one, and use it
// for many inferences.
class Context {
 public:
  Status init(const Graph& graph) { return wasi_nn_init_execution_context(graph.handle(), &handle_); }

  // Sets input `index` to the elements of `data`, which is as in tensor_of(). The shape of a scalar is {}.
  template <typename Range>
  Status set_input(uint32_t index, const Range& data, std::span<const uint32_t> dims) {
    const wasi_nn_tensor tensor = tensor_of(data, dims);
    return wasi_nn_set_input(handle_, index, &tensor);
  }
  template <typename Range>
  Status set_input(uint32_t index, const Range& data, std::initializer_list<uint32_t> dims) {
    return set_input(index, data, std::span(dims.begin(), dims.size()));
  }

  Status compute() { return wasi_nn_compute(handle_); }

  // Stores all elements of output `index` in `out`, as fill() does.
  template <typename T>
  Status get_output(uint32_t index, std::vector<T>& out) {
    return fill(out, [&](T* data, uint32_t size, uint32_t* written) {
      return wasi_nn_get_output(handle_, index, data, size, written);
    });
  }

  wasi_nn_context handle() const { return handle_; }

 private:
  wasi_nn_context handle_ = 0;
};

}  // namespace wasi_nn

#endif  // WASINN_GUEST_CPP_WASI_NN_HPP_
