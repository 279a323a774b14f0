#include "component/fake_wit.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace wasinn::testing {

FakeWit fake;

wasinn_guest* FakeGuest(int number) {
  static char guests[8];
  return reinterpret_cast<wasinn_guest*>(&guests[number]);
}

namespace {

wasinn_status* Begin(wasinn_guest* guest) {
  fake.guest = guest;
  if (fake.trap.empty()) return nullptr;
  return wasinn_status_new(WASINN_RUNTIME_ERROR, std::exchange(fake.trap, "").c_str());
}

wasinn_status* NoSuch(uint32_t rep) {
  return wasinn_status_new(WASINN_INVALID_ARGUMENT, ("no rep " + std::to_string(rep)).c_str());
}

// Owns what it shows, so that a view is seen to be read before its release, and released once.
void Show(std::string bytes, size_t count, wasinn_wit_view* out) {
  auto* shown = new std::string(std::move(bytes));
  ++fake.views;
  *out = {shown->data(), count, shown, [](void* owner) {
            --fake.views;
            ++fake.released;
            auto* text = static_cast<std::string*>(owner);
            std::fill(text->begin(), text->end(), '\xdd');
            delete text;
          }};
}

wasinn_wit_result Made(uint32_t rep) {
  if (fake.error.empty()) return {0, rep};
  fake.errors[fake.next] = std::exchange(fake.error, "");
  return {1, fake.next++};
}

wasinn_status* TensorNew(wasinn_guest* guest, const uint32_t* dimensions, size_t rank, uint32_t type,
                         const uint8_t* data, size_t size, uint32_t* tensor) {
  if (wasinn_status* status = Begin(guest)) return status;
  FakeTensor made{{dimensions, dimensions + rank}, type, {}, size};
  if (size <= kKept) made.data.assign(data, data + size);
  fake.tensors[fake.next] = std::move(made);
  *tensor = fake.next++;
  return nullptr;
}

wasinn_status* TensorDimensions(wasinn_guest* guest, uint32_t tensor, wasinn_wit_view* out) {
  if (wasinn_status* status = Begin(guest)) return status;
  if (!fake.tensors.contains(tensor)) return NoSuch(tensor);
  const std::vector<uint32_t>& dims = fake.tensors[tensor].dims;
  Show(std::string(reinterpret_cast<const char*>(dims.data()), dims.size() * sizeof(uint32_t)), dims.size(), out);
  return nullptr;
}

wasinn_status* TensorType(wasinn_guest* guest, uint32_t tensor, uint32_t* out) {
  if (wasinn_status* status = Begin(guest)) return status;
  if (!fake.tensors.contains(tensor)) return NoSuch(tensor);
  *out = fake.tensors[tensor].type;
  return nullptr;
}

wasinn_status* TensorData(wasinn_guest* guest, uint32_t tensor, wasinn_wit_view* out) {
  if (wasinn_status* status = Begin(guest)) return status;
  if (!fake.tensors.contains(tensor)) return NoSuch(tensor);
  const std::vector<uint8_t>& data = fake.tensors[tensor].data;
  Show(std::string(data.begin(), data.end()), data.size(), out);
  return nullptr;
}

template <auto kTable>
wasinn_status* Drop(wasinn_guest* guest, uint32_t rep) {
  if (wasinn_status* status = Begin(guest)) return status;
  if ((fake.*kTable).erase(rep) == 0) return NoSuch(rep);
  ++fake.dropped;
  return nullptr;
}

wasinn_status* Load(wasinn_guest* guest, const wasinn_bytes* builders, size_t count, uint32_t encoding, uint32_t target,
                    wasinn_wit_result* out) {
  if (wasinn_status* status = Begin(guest)) return status;
  fake.builders.clear();
  for (size_t i = 0; i < count; ++i) {
    fake.builders.emplace_back(reinterpret_cast<const char*>(builders[i].data), builders[i].size);
  }
  fake.encoding = encoding;
  fake.target = target;
  *out = Made(fake.next++);
  if (out->is_error == 0) fake.others[out->rep] = 0;
  return nullptr;
}

wasinn_status* LoadByName(wasinn_guest* guest, const char* name, size_t size, wasinn_wit_result* out) {
  const wasinn_bytes text = {reinterpret_cast<const uint8_t*>(name), size};
  return Load(guest, &text, 1, 0, 0, out);
}

wasinn_status* Init(wasinn_guest* guest, uint32_t graph, wasinn_wit_result* out) {
  if (wasinn_status* status = Begin(guest)) return status;
  if (!fake.others.contains(graph)) return NoSuch(graph);
  *out = Made(fake.next++);
  if (out->is_error == 0) fake.others[out->rep] = 0;
  return nullptr;
}

wasinn_status* Compute(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* inputs, size_t count,
                       wasinn_wit_result* out, wasinn_wit_view* outputs) {
  *outputs = {};
  if (wasinn_status* status = Begin(guest)) return status;
  if (!fake.others.contains(context)) return NoSuch(context);
  fake.names.clear();
  // Elements and their names in one block, as a view has one owner.
  size_t size = count * sizeof *inputs;
  for (size_t i = 0; i < count; ++i) size += inputs[i].name_size;
  std::string block;
  block.reserve(size);
  block.append(reinterpret_cast<const char*>(inputs), count * sizeof *inputs);
  for (size_t i = 0; i < count; ++i) {
    fake.names.emplace_back(inputs[i].name, inputs[i].name_size);
    if (!fake.tensors.contains(inputs[i].tensor)) return NoSuch(inputs[i].tensor);
  }
  *out = Made(0);
  if (out->is_error != 0) {
    for (size_t i = 0; i < count; ++i) fake.tensors.erase(inputs[i].tensor);
    return nullptr;
  }
  for (const std::string& name : fake.names) block += name;
  Show(std::move(block), count, outputs);
  auto* shown = static_cast<std::string*>(outputs->owner);
  const char* name = shown->data() + count * sizeof *inputs;
  for (size_t i = 0; i < count; ++i) {
    reinterpret_cast<wasinn_wit_named_tensor*>(shown->data())[i].name = name;
    name += inputs[i].name_size;
  }
  return nullptr;
}

wasinn_status* SetInput(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* input,
                        wasinn_wit_result* out) {
  if (wasinn_status* status = Begin(guest)) return status;
  if (!fake.others.contains(context)) return NoSuch(context);
  fake.names.assign(1, std::string(input->name, input->name_size));
  fake.others[context] = input->tensor;
  *out = Made(0);
  return nullptr;
}

wasinn_status* ComputeSet(wasinn_guest* guest, uint32_t context, wasinn_wit_result* out) {
  if (wasinn_status* status = Begin(guest)) return status;
  if (!fake.others.contains(context)) return NoSuch(context);
  *out = Made(0);
  return nullptr;
}

wasinn_status* GetOutput(wasinn_guest* guest, uint32_t context, const char* name, size_t size, wasinn_wit_result* out) {
  if (wasinn_status* status = Begin(guest)) return status;
  if (!fake.others.contains(context)) return NoSuch(context);
  fake.names.assign(1, std::string(name, size));
  *out = Made(fake.next++);
  if (out->is_error == 0) fake.tensors[out->rep] = fake.tensors[fake.others[context]];
  return nullptr;
}

wasinn_status* ErrorNew(wasinn_guest* guest, uint32_t code, const char* data, size_t size, uint32_t* error) {
  if (wasinn_status* status = Begin(guest)) return status;
  fake.code = code;
  fake.errors[fake.next] = std::string(data, size);
  *error = fake.next++;
  return nullptr;
}

wasinn_status* ErrorCode(wasinn_guest* guest, uint32_t error, uint32_t* out) {
  if (wasinn_status* status = Begin(guest)) return status;
  if (!fake.errors.contains(error)) return NoSuch(error);
  *out = fake.code;
  return nullptr;
}

wasinn_status* ErrorData(wasinn_guest* guest, uint32_t error, wasinn_wit_view* out) {
  if (wasinn_status* status = Begin(guest)) return status;
  if (!fake.errors.contains(error)) return NoSuch(error);
  Show(fake.errors[error], fake.errors[error].size(), out);
  return nullptr;
}

wasinn_status* BeginCall(wasinn_guest* guest, void (*run)(void* user), void* user) {
  ++fake.begun;
  fake.guest = guest;
  if (std::exchange(fake.no_thread, false)) return wasinn_status_new(WASINN_RUNTIME_ERROR, "no thread");
  std::thread(run, user).join();
  return nullptr;
}

constexpr wasinn_wit_functions kFunctions = {.struct_size = sizeof(wasinn_wit_functions),
                                             .tensor_new = TensorNew,
                                             .tensor_dimensions = TensorDimensions,
                                             .tensor_type = TensorType,
                                             .tensor_data = TensorData,
                                             .tensor_drop = Drop<&FakeWit::tensors>,
                                             .graph_load = Load,
                                             .graph_load_by_name = LoadByName,
                                             .graph_init_execution_context = Init,
                                             .graph_drop = Drop<&FakeWit::others>,
                                             .context_compute = Compute,
                                             .context_set_input = SetInput,
                                             .context_compute_set = ComputeSet,
                                             .context_get_output = GetOutput,
                                             .context_drop = Drop<&FakeWit::others>,
                                             .error_new = ErrorNew,
                                             .error_code = ErrorCode,
                                             .error_data = ErrorData,
                                             .error_drop = Drop<&FakeWit::errors>,
                                             .begin = BeginCall};

}  // namespace
}  // namespace wasinn::testing

const wasinn_wit_functions* wasinn_wit() { return &wasinn::testing::kFunctions; }

wasinn_status* wasinn_wit_guest_limits(const wasinn_guest*, wasinn_wit_limits* out) {
  *out = wasinn::testing::fake.limits;
  return nullptr;
}
