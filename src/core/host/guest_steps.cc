// The part of a guest for generative models.
#include "core/host/guest.h"
#include "core/inference/scratch_memory.h"

namespace wasinn::core {

Status Guest::Start(uint32_t handle, std::span<const NamedTensor> inputs) {
  Use context(*this, handle);
  if (!context) return context.TakeError();
  ScratchMemory scratch;
  std::pmr::vector<Context::TensorInput> given(&scratch.resource);
  RETURN_IF_ERROR(Resolve(*context->graph(), inputs, given));
  return context->Start(given);
}

Status Guest::SelectOutputs(uint32_t handle, std::span<const std::string_view> names) {
  Use context(*this, handle);
  if (!context) return context.TakeError();
  std::vector<uint32_t> indices;
  for (std::string_view name : names) {
    ASSIGN_OR_RETURN(uint32_t index, context->FindOutput(name));
    indices.push_back(index);
  }
  return context->SelectOutputs(indices);
}

}  // namespace wasinn::core
