// wasi_nn_ext.hpp: WasmEdge's functions of wasi_nn_ext.h for guests written in C++20, in the manner of wasi_nn.hpp.
//
// A model that generates text, piece by piece:
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

#include <cstdint>
#include <string_view>
#include <vector>

#include "wasi_nn.hpp"
#include "wasi_nn_ext.h"

namespace wasi_nn {

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

}  // namespace wasi_nn

#endif  // WASINN_GUEST_CPP_WASI_NN_EXT_HPP_
