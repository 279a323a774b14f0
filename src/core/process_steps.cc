// The part of a process that serves models which generate.
#include "core/process.h"
#include "core/scratch_memory.h"

namespace wasinn::core {

Status Process::Step(uint32_t handle, const Caller* caller) {
  Result<std::shared_ptr<GuestContext>> guest = contexts_.Get(handle);
  if (!guest) return std::move(guest.error());
  return (*guest)->context->Step(caller, copied_in_);
}

Status Process::GetPiece(uint32_t handle, uint32_t index, std::span<uint8_t> buffer, uint64_t& size) {
  Result<std::shared_ptr<GuestContext>> guest = contexts_.Get(handle);
  if (!guest) return std::move(guest.error());
  return (*guest)->context->GetPiece(index, buffer, size, copied_out_);
}

Status Process::Start(uint32_t handle, std::span<const NamedTensor> inputs) {
  Result<std::shared_ptr<GuestContext>> guest = contexts_.Get(handle);
  if (!guest) return std::move(guest.error());
  Context& context = *(*guest)->context;
  ScratchMemory scratch;
  std::pmr::vector<Context::Given> given(&scratch.resource);
  if (Status status = Resolve(*context.graph(), inputs, given); !status.ok()) return status;
  computes_.fetch_add(1, std::memory_order_relaxed);
  return context.Start(given, copied_in_);
}

Status Process::Finish(uint32_t handle) {
  Result<std::shared_ptr<GuestContext>> guest = contexts_.Get(handle);
  if (!guest) return std::move(guest.error());
  return (*guest)->context->Finish();
}

Status Process::SelectOutputs(uint32_t handle, std::span<const std::string_view> names) {
  Result<std::shared_ptr<GuestContext>> guest = contexts_.Get(handle);
  if (!guest) return std::move(guest.error());
  std::vector<uint32_t> indices;
  for (std::string_view name : names) {
    Result<uint32_t> index = (*guest)->context->FindOutput(name);
    if (!index) return std::move(index.error());
    indices.push_back(*index);
  }
  return (*guest)->context->SelectOutputs(indices);
}

}  // namespace wasinn::core
