#include "unit/wit_guest.h"

namespace wasinn::testing {
namespace {

// The elements of a view, which is released.
template <typename T>
std::vector<T> Read(wasinn_wit_view& view) {
  const auto* data = static_cast<const T*>(view.data);
  std::vector<T> values(data, data + view.count);
  if (view.release != nullptr) view.release(view.owner);
  return values;
}

}  // namespace

std::string WitGuest::TrapOf(wasinn_status* status) {
  const StatusPtr owned(status);
  return owned == nullptr ? "" : wasinn_status_message(owned.get());
}

Outcome WitGuest::Finish(wasinn_status* status, const wasinn_wit_result& result) {
  Outcome outcome;
  outcome.trap = TrapOf(status);
  if (!outcome.trap.empty()) return outcome;
  outcome.rep = result.rep;
  if (result.is_error == 0) return outcome;
  uint32_t code = 0;
  wasinn_wit_view text{};
  EXPECT_EQ(TrapOf(wit_->error_code(guest_, result.rep, &code)), "");
  EXPECT_EQ(TrapOf(wit_->error_status(guest_, result.rep, &outcome.status)), "");
  EXPECT_EQ(TrapOf(wit_->error_data(guest_, result.rep, &text)), "");
  EXPECT_EQ(DropError(result.rep), "");
  const std::vector<char> message = Read<char>(text);  // after the drop: the view keeps it
  outcome.error = code;
  outcome.message.assign(message.begin(), message.end());
  return outcome;
}

Outcome WitGuest::Tensor(const std::vector<uint32_t>& dims, uint32_t type, const std::vector<uint8_t>& data) {
  Outcome outcome;
  outcome.trap =
      TrapOf(wit_->tensor_new(guest_, dims.data(), dims.size(), type, data.data(), data.size(), &outcome.rep));
  return outcome;
}

Outcome WitGuest::Floats(const std::vector<uint32_t>& dims, const std::vector<float>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return Tensor(dims, kWitF32, bytes);
}

std::vector<uint32_t> WitGuest::Dimensions(uint32_t tensor) {
  wasinn_wit_view view{};
  EXPECT_EQ(TrapOf(wit_->tensor_dimensions(guest_, tensor, &view)), "");
  return Read<uint32_t>(view);
}

uint32_t WitGuest::Type(uint32_t tensor) {
  uint32_t type = UINT32_MAX;
  EXPECT_EQ(TrapOf(wit_->tensor_type(guest_, tensor, &type)), "");
  return type;
}

std::vector<uint8_t> WitGuest::Data(uint32_t tensor) {
  wasinn_wit_view view{};
  EXPECT_EQ(TrapOf(wit_->tensor_data(guest_, tensor, &view)), "");
  return Read<uint8_t>(view);
}

std::vector<float> WitGuest::FloatData(uint32_t tensor) {
  const std::vector<uint8_t> bytes = Data(tensor);
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

Outcome WitGuest::Load(std::string_view model, uint32_t encoding, uint32_t target) {
  const wasinn_bytes bytes{reinterpret_cast<const uint8_t*>(model.data()), model.size()};
  wasinn_wit_result result{};
  wasinn_status* status = wit_->graph_load(guest_, &bytes, 1, encoding, target, &result);
  return Finish(status, result);
}

Outcome WitGuest::LoadByName(std::string_view name) {
  wasinn_wit_result result{};
  wasinn_status* status = wit_->graph_load_by_name(guest_, name.data(), name.size(), &result);
  return Finish(status, result);
}

Outcome WitGuest::InitContext(uint32_t graph) {
  wasinn_wit_result result{};
  wasinn_status* status = wit_->graph_init_execution_context(guest_, graph, &result);
  return Finish(status, result);
}

uint32_t WitGuest::ContextOf(std::string_view name) {
  const Outcome graph = LoadByName(name);
  EXPECT_TRUE(graph.ok()) << graph;
  const Outcome context = InitContext(graph.rep);
  EXPECT_TRUE(context.ok()) << context;
  EXPECT_EQ(DropGraph(graph.rep), "");
  return context.rep;
}

Outcome WitGuest::Compute(uint32_t context, const Named& inputs) {
  std::vector<wasinn_wit_named_tensor> named;
  named.reserve(inputs.size());
  for (const auto& [name, tensor] : inputs) named.push_back({name.data(), name.size(), tensor});
  wasinn_wit_result result{};
  wasinn_wit_view outputs{};
  wasinn_status* status = wit_->context_compute(guest_, context, named.data(), named.size(), &result, &outputs);
  Outcome outcome = Finish(status, result);
  const auto* items = static_cast<const wasinn_wit_named_tensor*>(outputs.data);
  for (size_t i = 0; i < outputs.count; ++i) {
    outcome.outputs.emplace_back(std::string(items[i].name, items[i].name_size), items[i].tensor);
  }
  if (outputs.release != nullptr) outputs.release(outputs.owner);
  return outcome;
}

Outcome WitGuest::SetInput(uint32_t context, std::string_view name, uint32_t tensor) {
  const wasinn_wit_named_tensor named{name.data(), name.size(), tensor};
  wasinn_wit_result result{};
  wasinn_status* status = wit_->context_set_input(guest_, context, &named, &result);
  return Finish(status, result);
}

Outcome WitGuest::ComputeSet(uint32_t context) {
  wasinn_wit_result result{};
  wasinn_status* status = wit_->context_compute_set(guest_, context, &result);
  return Finish(status, result);
}

Outcome WitGuest::GetOutput(uint32_t context, std::string_view name) {
  wasinn_wit_result result{};
  wasinn_status* status = wit_->context_get_output(guest_, context, name.data(), name.size(), &result);
  return Finish(status, result);
}

}  // namespace wasinn::testing
