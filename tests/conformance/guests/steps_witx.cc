// wasi_ephemeral_nn: the standard's six functions, and with STEPS_EXTENSIONS those that WasmEdge and wasinn added.
#include <cstdlib>

#include "steps.h"
#include "wasi_nn.h"
#include "wasi_nn_ext.h"

namespace steps {

static_assert(kTooLarge == WASI_NN_TOO_LARGE);

namespace {

uint32_t Index(const std::string& text) { return static_cast<uint32_t>(std::strtoul(text.c_str(), nullptr, 10)); }

}  // namespace

uint32_t Load(const std::vector<Bytes>& parts, uint32_t encoding, uint32_t target, uint32_t* graph) {
  std::vector<wasi_nn_builder> builders;
  for (const Bytes& part : parts) builders.push_back({part.data(), static_cast<uint32_t>(part.size())});
  return wasi_nn_load(builders.data(), static_cast<uint32_t>(builders.size()), encoding, target, graph);
}

uint32_t LoadByName(const std::string& name, uint32_t* graph) {
  return wasi_nn_load_by_name(name.data(), static_cast<uint32_t>(name.size()), graph);
}

uint32_t InitContext(uint32_t graph, uint32_t* context) { return wasi_nn_init_execution_context(graph, context); }

uint32_t Set(uint32_t context, const std::string& input, const Tensor& tensor) {
  const wasi_nn_tensor raw = {
      tensor.dims.data(),  static_cast<uint32_t>(tensor.dims.size()), static_cast<wasi_nn_type>(tensor.type), {},
      tensor.bytes.data(), static_cast<uint32_t>(tensor.bytes.size())};
  return wasi_nn_set_input(context, Index(input), &raw);
}

uint32_t Compute(uint32_t context) { return wasi_nn_compute(context); }

uint32_t Get(uint32_t context, const std::string& output, uint8_t* buffer, uint32_t room, uint32_t* written) {
  return wasi_nn_get_output(context, Index(output), buffer, room, written);
}

#ifdef STEPS_EXTENSIONS
uint32_t More(const std::string& word, uint32_t handle, std::istream& step, Bytes* out) {
  if (word == "finalize") return wasi_nn_finalize_execution_context(handle);
  if (word == "single") return wasi_nn_compute_single(handle);
  if (word == "fini") return wasi_nn_fini_single(handle);
  if (word != "piece" && word != "describe") return kNoSuchStep;
  uint32_t index = 0;
  if (word == "piece") step >> index;
  return WithBuffer(step, out, [&](uint8_t* buffer, uint32_t room, uint32_t* written) {
    if (word == "piece") return wasi_nn_get_output_single(handle, index, buffer, room, written);
    return wasinn_describe(handle, reinterpret_cast<char*>(buffer), room, written);
  });
}
#else
uint32_t More(const std::string&, uint32_t, std::istream&, Bytes*) { return kNoSuchStep; }
#endif

}  // namespace steps
