// wasi:nn 0.2.0-rc-2024-10-28. `set` keeps an input for the next `compute`, whose outputs `get` looks for. More steps:
//
//   finalize CONTEXT, drop-graph GRAPH
//   shape CONTEXT OUTPUT               gives the output's type and dimensions
//   tensor TYPE DIMS BYTES             makes a tensor, and gives the type, number of dimensions, dimensions and bytes that it has
//   dropped-tensor TYPE DIMS BYTES     makes a tensor, drops it, and asks for its type
//   given-tensor CONTEXT INPUT TYPE DIMS BYTES  computes with a tensor, and asks for its type whatever came of that
//   message CONTEXT                    gives the message of the last error
#include <algorithm>
#include <cstring>
#include <map>

#include "steps.h"
#include "wasi_nn_component.h"

namespace steps {

namespace {

constexpr uint32_t kFirstError = 1000;

struct Input {
  std::string name;
  wasi_nn_tensor tensor;
};

struct Staged {
  std::vector<Input> inputs;
  wasi_nn_outputs outputs = {};
};

std::map<uint32_t, Staged> staged;
Bytes message;

Bytes TakeList(wasi_nn_list* list) {
  const auto* bytes = static_cast<const uint8_t*>(list->items);
  Bytes copy(list->count == 0 ? nullptr : bytes, list->count == 0 ? nullptr : bytes + list->count);
  wasi_nn_list_free(list);
  return copy;
}

uint32_t TakeError(wasi_nn_error error) {
  wasi_nn_list text;
  wasi_nn_error_data(error, &text);
  message = TakeList(&text);
  const uint32_t code = wasi_nn_error_code(error);
  wasi_nn_error_drop(error);
  return kFirstError + code;
}

uint32_t TakeHandle(const wasi_nn_result& result, uint32_t* handle) {
  if (result.is_error) return TakeError(result.handle);
  *handle = result.handle;
  return 0;
}

wasi_nn_tensor NewTensor(const Tensor& tensor) {
  return wasi_nn_tensor_new(tensor.dims.data(), tensor.dims.size(), tensor.type, tensor.bytes.data(),
                            tensor.bytes.size());
}

void Append(Bytes* out, uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8) out->push_back(static_cast<uint8_t>(number >> shift));
}

// The type, the rank and the dimensions.
void AppendShape(Bytes* out, wasi_nn_tensor tensor) {
  Append(out, wasi_nn_tensor_type(tensor));
  wasi_nn_list dims;
  wasi_nn_tensor_dimensions(tensor, &dims);
  Append(out, dims.count);
  for (size_t i = 0; i < dims.count; ++i) Append(out, static_cast<const uint32_t*>(dims.items)[i]);
  wasi_nn_list_free(&dims);
}

wasi_nn_tensor Output(uint32_t context, const std::string& name) {
  const wasi_nn_outputs& outputs = staged[context].outputs;
  for (size_t i = 0; i < outputs.list.count; ++i) {
    const wasi_nn_named_tensor& item = outputs.list.items[i];
    if (name == std::string(item.name_size > 0 ? item.name : "", item.name_size)) return item.tensor;
  }
  return 0;
}

uint32_t ComputeWith(uint32_t context, const std::vector<Input>& inputs) {
  std::vector<wasi_nn_named_tensor> named;
  for (const Input& input : inputs) named.push_back({input.name.data(), input.name.size(), input.tensor});
  wasi_nn_outputs outputs;
  wasi_nn_compute(context, named.data(), named.size(), &outputs);
  if (outputs.is_error) return TakeError(outputs.error);
  wasi_nn_outputs_free(&staged[context].outputs);
  staged[context].outputs = outputs;
  return 0;
}

uint32_t Drop(uint32_t context) {
  for (const Input& input : staged[context].inputs) wasi_nn_tensor_drop(input.tensor);
  wasi_nn_outputs_free(&staged[context].outputs);
  staged.erase(context);
  wasi_nn_context_drop(context);
  return 0;
}

}  // namespace

uint32_t Load(const std::vector<Bytes>& parts, uint32_t encoding, uint32_t target, uint32_t* graph) {
  std::vector<wasi_nn_builder> builders;
  for (const Bytes& part : parts) builders.push_back({part.data(), part.size()});
  wasi_nn_result result;
  wasi_nn_load(builders.data(), builders.size(), encoding, target, &result);
  return TakeHandle(result, graph);
}

uint32_t LoadByName(const std::string& name, uint32_t* graph) {
  wasi_nn_result result;
  wasi_nn_load_by_name(name.data(), name.size(), &result);
  return TakeHandle(result, graph);
}

uint32_t InitContext(uint32_t graph, uint32_t* context) {
  wasi_nn_result result;
  wasi_nn_init_execution_context(graph, &result);
  return TakeHandle(result, context);
}

uint32_t Set(uint32_t context, const std::string& input, const Tensor& tensor) {
  staged[context].inputs.push_back({input == "-" ? "" : input, NewTensor(tensor)});
  return 0;
}

uint32_t Compute(uint32_t context) {
  const std::vector<Input> inputs = std::move(staged[context].inputs);
  staged[context].inputs.clear();
  return ComputeWith(context, inputs);
}

uint32_t Get(uint32_t context, const std::string& output, uint8_t* buffer, uint32_t room, uint32_t* written) {
  const wasi_nn_tensor tensor = Output(context, output);
  if (tensor == 0) return kNoSuchOutput;
  wasi_nn_list list;
  wasi_nn_tensor_data(tensor, &list);
  const Bytes bytes = TakeList(&list);
  *written = bytes.size();
  if (bytes.size() > room) return kTooLarge;
  std::copy(bytes.begin(), bytes.end(), buffer);
  return 0;
}

uint32_t More(const std::string& word, uint32_t handle, std::istream& step, Bytes* out) {
  if (word == "finalize") return Drop(handle);
  if (word == "drop-graph") return wasi_nn_graph_drop(handle), 0;
  if (word == "message") return *out = message, 0;
  if (word == "shape") {
    std::string name;
    step >> name;
    const wasi_nn_tensor tensor = Output(handle, name);
    if (tensor == 0) return kNoSuchOutput;
    AppendShape(out, tensor);
    return 0;
  }
  if (word == "given-tensor") {
    std::string name;
    step >> name;
    const wasi_nn_tensor tensor = NewTensor(ReadTensor(step));
    ComputeWith(handle, {{name, tensor}});
    Append(out, wasi_nn_tensor_type(tensor));
    return 0;
  }
  if (word != "tensor" && word != "dropped-tensor") return kNoSuchStep;
  const wasi_nn_tensor tensor = NewTensor(ReadTensor(step));
  if (word == "dropped-tensor") {
    wasi_nn_tensor_drop(tensor);
    Append(out, wasi_nn_tensor_type(tensor));
    return 0;
  }
  AppendShape(out, tensor);
  wasi_nn_list list;
  wasi_nn_tensor_data(tensor, &list);
  const Bytes bytes = TakeList(&list);
  out->insert(out->end(), bytes.begin(), bytes.end());
  wasi_nn_tensor_drop(tensor);
  return 0;
}

}  // namespace steps
