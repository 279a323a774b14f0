// wasi_nn_ext.hpp: wasi_nn_ext.h for guests written in C++20, in the style of wasi_nn.hpp. wasi_nn_ext.h says what each
// function does, and which hosts have it.
//
// A model generates text piece by piece:
//
//   wasi_nn::Graph graph;
//   wasi_nn::Context context;
//   if (wasi_nn::Status s = wasi_nn::load_by_name_with_config("lm", R"({"n-predict": 64})", &graph); !s) …
//   if (wasi_nn::Status s = context.init(graph); !s) …
//   if (wasi_nn::Status s = context.set_input(0, prompt, {1}); !s) …
//   for (;;) {
//     if (wasi_nn::Status s = wasi_nn::compute_single(context); !s) break;  // end_of_sequence: the text is complete
//     if (wasi_nn::Status s = wasi_nn::get_output_single(context, 0, piece); !s) …
//   }
//   if (wasi_nn::Status s = wasi_nn::fini_single(context); !s) …
#ifndef WASINN_GUEST_CPP_WASI_NN_EXT_HPP_
#define WASINN_GUEST_CPP_WASI_NN_EXT_HPP_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wasi_nn.hpp"
#include "wasi_nn_ext.h"

namespace wasi_nn {

// ---- WasmEdge's functions

inline Status load_by_name_with_config(std::string_view name, std::string_view config, Graph* graph) {
  wasi_nn_graph handle = 0;
  const Status status = wasi_nn_load_by_name_with_config(name.data(), static_cast<uint32_t>(name.size()), config.data(),
                                                         static_cast<uint32_t>(config.size()), &handle);
  if (status) *graph = Graph(handle);
  return status;
}

inline Status compute_single(const Context& context) { return wasi_nn_compute_single(context.handle()); }

template <typename T>
Status get_output_single(const Context& context, uint32_t index, std::vector<T>& out) {
  return fill(out, [&](T* data, uint32_t size, uint32_t* written) {
    return wasi_nn_get_output_single(context.handle(), index, data, size, written);
  });
}

inline Status fini_single(const Context& context) { return wasi_nn_fini_single(context.handle()); }

// The handle is not valid afterwards.
inline Status unload(const Graph& graph) { return wasi_nn_unload(graph.handle()); }
inline Status finalize_execution_context(const Context& context) {
  return wasi_nn_finalize_execution_context(context.handle());
}

// ---- wasinn's functions

// The message of the guest's last error: "set_input: invalid_argument: …"
inline Status last_error(std::string& text) { return fill(text, wasinn_last_error); }

// The graph's inputs and outputs, as JSON.
inline Status describe(const Graph& graph, std::string& json) {
  return fill(json, [&](char* data, uint32_t size, uint32_t* written) {
    return wasinn_describe(graph.handle(), data, size, written);
  });
}

// Loads a model of one part, by the name of its format.
inline Status load_as(std::span<const uint8_t> bytes, std::string_view format, Graph* graph,
                      wasi_nn_target target = WASI_NN_TARGET_CPU) {
  const wasi_nn_builder builder = {bytes.data(), static_cast<uint32_t>(bytes.size())};
  wasi_nn_graph handle = 0;
  const Status status =
      wasinn_load_as(&builder, 1, format.data(), static_cast<uint32_t>(format.size()), target, &handle);
  if (status) *graph = Graph(handle);
  return status;
}

template <typename Range>
Status set_input_by_name(const Context& context, std::string_view name, const Range& data,
                         std::span<const uint32_t> dims) {
  const wasi_nn_tensor tensor = tensor_of(data, dims);
  return wasinn_set_input_by_name(context.handle(), name.data(), static_cast<uint32_t>(name.size()), &tensor);
}
template <typename Range>
Status set_input_by_name(const Context& context, std::string_view name, const Range& data,
                         std::initializer_list<uint32_t> dims) {
  return set_input_by_name(context, name, data, std::span(dims.begin(), dims.size()));
}

template <typename T>
Status get_output_by_name(const Context& context, std::string_view name, std::vector<T>& out) {
  return fill(out, [&](T* data, uint32_t size, uint32_t* written) {
    return wasinn_get_output_by_name(context.handle(), name.data(), static_cast<uint32_t>(name.size()), data, size,
                                     written);
  });
}

// Each later compute writes to `buffer`, a vector, array or span, and to *written. Both must stay in place.
template <typename Range>
Status set_output(const Context& context, uint32_t index, Range&& buffer, uint32_t* written) {
  const std::span room(buffer);
  return wasinn_set_output(context.handle(), index, room.data(), static_cast<uint32_t>(room.size_bytes()), written);
}
template <typename Range>
Status set_output_by_name(const Context& context, std::string_view name, Range&& buffer, uint32_t* written) {
  const std::span room(buffer);
  return wasinn_set_output_by_name(context.handle(), name.data(), static_cast<uint32_t>(name.size()), room.data(),
                                   static_cast<uint32_t>(room.size_bytes()), written);
}

// Makes an output of `from` an input of `context`. Both may be the same context.
inline Status set_input_from_output(const Context& context, uint32_t index, const Context& from,
                                    uint32_t output_index) {
  return wasinn_set_input_from_output(context.handle(), index, from.handle(), output_index);
}

// An input and an output of compute_once, by index or by the model's name. They own nothing: names, data and dims must
// live until the call has returned.
class Input : public wasinn_input {
 public:
  template <typename Range>
  Input(uint32_t index, const Range& data, std::span<const uint32_t> dims)
      : wasinn_input{nullptr, index, tensor_of(data, dims)} {}
  template <typename Range>
  Input(std::string_view name, const Range& data, std::span<const uint32_t> dims)
      : wasinn_input{name.data(), static_cast<uint32_t>(name.size()), tensor_of(data, dims)} {}
};
class Output : public wasinn_output {
 public:
  template <typename Range>
  Output(uint32_t index, Range&& buffer) : Output(nullptr, index, std::as_writable_bytes(std::span(buffer))) {}
  template <typename Range>
  Output(std::string_view name, Range&& buffer)
      : Output(name.data(), static_cast<uint32_t>(name.size()), std::as_writable_bytes(std::span(buffer))) {}

 private:
  Output(const char* name, uint32_t name_len, std::span<std::byte> room)
      : wasinn_output{name, name_len, room.data(), static_cast<uint32_t>(room.size()), 0} {}
};
static_assert(sizeof(Input) == sizeof(wasinn_input) && sizeof(Output) == sizeof(wasinn_output),
              "arrays go as they are");

// An inference in one call. It stores each output's size in bytes in `written`, also with too_large.
//
//   constexpr uint32_t kShape[] = {1, 3, 224, 224};
//   const wasi_nn::Input inputs[] = {{"image", image, kShape}};
//   wasi_nn::Output outputs[] = {{"scores", scores}};
//   if (wasi_nn::Status s = wasi_nn::compute_once(context, inputs, outputs); !s) …
inline Status compute_once(const Context& context, std::span<const Input> inputs, std::span<Output> outputs) {
  return wasinn_compute_once(context.handle(), inputs.data(), static_cast<uint32_t>(inputs.size()), outputs.data(),
                             static_cast<uint32_t>(outputs.size()));
}
// The same, with a context for this call only.
inline Status compute_once(const Graph& graph, std::span<const Input> inputs, std::span<Output> outputs) {
  return wasinn_compute_once(graph.handle(), inputs.data(), static_cast<uint32_t>(inputs.size()), outputs.data(),
                             static_cast<uint32_t>(outputs.size()));
}

// Computes that overlap: wasi_nn_ext.h says how.
inline Status compute_begin(const Context& context) { return wasinn_compute_begin(context.handle()); }
inline Status compute_poll(const Context& context) { return wasinn_compute_poll(context.handle()); }
inline Status compute_cancel(const Context& context) { return wasinn_compute_cancel(context.handle()); }
inline Status compute_wait(std::span<const Context> contexts, uint32_t* index, uint32_t timeout_ms = WASINN_FOR_EVER) {
  static_assert(sizeof(Context) == sizeof(wasi_nn_context), "arrays go as they are");
  return wasinn_compute_wait(reinterpret_cast<const wasi_nn_context*>(contexts.data()),
                             static_cast<uint32_t>(contexts.size()), timeout_ms, index);
}

}  // namespace wasi_nn

#endif  // WASINN_GUEST_CPP_WASI_NN_EXT_HPP_
