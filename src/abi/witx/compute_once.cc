
#include <functional>
#include <memory_resource>
#include <string>
#include <vector>

#include "abi/witx/call.h"

namespace wasinn::abi {
namespace {

using core::Error;
using core::OutOfRange;
using core::Result;
using core::Status;

// The layouts of compute_once: a name, or, if its address is 0, an index instead of its length.
struct GuestName {
  uint32_t address;
  uint32_t size_or_index;
};
constexpr uint32_t kInputSize = sizeof(GuestName) + 20;  // and a tensor
struct GuestOutput {
  GuestName name;
  uint32_t buffer;
  uint32_t buffer_size;
  uint32_t written;
};
static_assert(sizeof(GuestOutput) == 20);

// Checks a guest's array of `count` elements, and that there are not too many.
Status CheckArray(const Invocation& call, const char* what, uint32_t address, uint32_t count, uint32_t element,
                  size_t most) {
  if (count > most)
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "{} {}s are given, the model has {}", count, what, most);
  if (call.memory.Range(address, count, element)) return Status();
  return Error(WASINN_ERROR_INVALID_ARGUMENT, "the array of {} {}s at {:#x} is outside of the guest's memory", count,
               what, address);
}

Status DecodeOnceInput(const Invocation& call, const core::Graph& graph, uint32_t address, core::OnceInput& input) {
  const auto name = call.memory.Load<GuestName>(address);
  if (!name) return OutOfRange("an input", address, kInputSize);
  input.index = name->size_or_index;
  if (name->address != 0) {
    ASSIGN_OR_RETURN(std::string text, DecodeName(call, "an input's name", name->address, name->size_or_index));
    ASSIGN_OR_RETURN(input.index, graph.FindInput(text));
  }
  return DecodeTensor(call, address + sizeof(GuestName), input.tensor, input.bytes);
}

// `names` gets the output's name if outputs are only known after a compute.
Status DecodeOnceOutput(const Invocation& call, const core::Graph& graph, uint32_t address, core::OnceOutput& output,
                        std::pmr::vector<std::string>& names) {
  const auto given = call.memory.Load<GuestOutput>(address);
  if (!given) return OutOfRange("an output", address, sizeof(GuestOutput));
  const auto buffer = call.memory.Range(given->buffer, given->buffer_size);
  if (!buffer) return OutOfRange("an output buffer", given->buffer, given->buffer_size);
  output.buffer = *buffer;
  output.index = given->name.size_or_index;
  if (given->name.address == 0) return Status();
  ASSIGN_OR_RETURN(std::string text,
                   DecodeName(call, "an output's name", given->name.address, given->name.size_or_index));
  if (graph.has_dynamic_outputs()) {
    output.by_name = true;
    output.name = names.emplace_back(std::move(text));
    return Status();
  }
  ASSIGN_OR_RETURN(output.index, graph.FindOutput(text));
  return Status();
}

Status ComputeOnceOn(const Invocation& call, core::Context& context) {
  const core::Graph& graph = *context.graph();
  const uint32_t inputs_at = call.arg(1), n_inputs = call.arg(2), outputs_at = call.arg(3), n_outputs = call.arg(4);
  const size_t most = graph.has_dynamic_outputs() ? core::DynamicOutputs::kMax : graph.outputs().size();
  Status status = CheckArray(call, "input", inputs_at, n_inputs, kInputSize, graph.inputs().size());
  if (status.ok()) status = CheckArray(call, "output", outputs_at, n_outputs, sizeof(GuestOutput), most);
  if (!status.ok()) return status;
  core::ScratchMemory scratch;
  std::pmr::vector<core::OnceInput> inputs(&scratch.resource);
  inputs.reserve(n_inputs);
  std::pmr::vector<core::OnceOutput> outputs(n_outputs, &scratch.resource);
  std::pmr::vector<std::string> names(&scratch.resource);
  if (graph.has_dynamic_outputs()) names.reserve(n_outputs);  // elements never move
  for (uint32_t i = 0; status.ok() && i < n_inputs; ++i) {
    // Default initialization would write the whole array of dimensions.
    core::OnceInput& input = inputs.emplace_back(i, core::TensorDesc(), std::span<const uint8_t>());
    status = DecodeOnceInput(call, graph, inputs_at + i * kInputSize, input);
  }
  for (uint32_t i = 0; status.ok() && i < n_outputs; ++i) {
    status = DecodeOnceOutput(call, graph, outputs_at + i * sizeof(GuestOutput), outputs[i], names);
  }
  if (!status.ok()) return status;
  status = context.ComputeOnce(inputs, outputs, call.memory);
  for (uint32_t i = 0; i < n_outputs; ++i) {
    const auto size = static_cast<uint32_t>(std::min<uint64_t>(outputs[i].size, UINT32_MAX));
    const uint32_t written = outputs_at + i * sizeof(GuestOutput) + offsetof(GuestOutput, written);
    RETURN_IF_ERROR(StoreResult(call, written, size));
  }
  return status;
}

}  // namespace

Status ComputeOnce(const Invocation& call) {
  const auto on_context = [&call](core::Context& context) { return ComputeOnceOn(call, context); };
  return call.guest.UseOnce(call.arg(0), std::cref(on_context));
}

}  // namespace wasinn::abi
