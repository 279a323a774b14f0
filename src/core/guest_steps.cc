// The part of a guest that serves models which generate.
#include "core/guest.h"
#include "core/scratch_memory.h"

namespace wasinn::core {

Status Guest::Step(uint32_t handle, const Caller* caller) {
  Result<std::shared_ptr<GuestContext>> held = contexts_.Get(handle);
  if (!held) return std::move(held.error());
  return (*held)->context->Step(caller, copied_in_);
}

Status Guest::GetPiece(uint32_t handle, uint32_t index, std::span<uint8_t> buffer, uint64_t& size) {
  Result<std::shared_ptr<GuestContext>> held = contexts_.Get(handle);
  if (!held) return std::move(held.error());
  return (*held)->context->GetPiece(index, buffer, size, copied_out_);
}

Status Guest::Start(uint32_t handle, std::span<const NamedTensor> inputs) {
  Result<std::shared_ptr<GuestContext>> held = contexts_.Get(handle);
  if (!held) return std::move(held.error());
  Context& context = *(*held)->context;
  ScratchMemory scratch;
  std::pmr::vector<Context::Given> given(&scratch.resource);
  if (Status status = Resolve(*context.graph(), inputs, given); !status.ok()) return status;
  computes_.fetch_add(1, std::memory_order_relaxed);
  return context.Start(given, copied_in_);
}

Status Guest::Finish(uint32_t handle) {
  Result<std::shared_ptr<GuestContext>> held = contexts_.Get(handle);
  if (!held) return std::move(held.error());
  return (*held)->context->Finish();
}

Status Guest::SelectOutputs(uint32_t handle, std::span<const std::string_view> names) {
  Result<std::shared_ptr<GuestContext>> held = contexts_.Get(handle);
  if (!held) return std::move(held.error());
  std::vector<uint32_t> indices;
  for (std::string_view name : names) {
    Result<uint32_t> index = (*held)->context->FindOutput(name);
    if (!index) return std::move(index.error());
    indices.push_back(*index);
  }
  return (*held)->context->SelectOutputs(indices);
}

}  // namespace wasinn::core
