#include "core/late_outputs.h"

#include <utility>

namespace wasinn::core {

LateOutputs::LateOutputs(std::span<const wasinn_io* const> ios) {
  for (const wasinn_io* io : ios) {
    wasinn_io& copy = ios_.emplace_back(*io);  // of this version's size, as was checked
    copy.struct_size = sizeof(wasinn_io);
    copy.name = names_.emplace_back(io->name).c_str();
    if (io->rank > 0) copy.dims = dims_.emplace_back(io->dims, io->dims + io->rank).data();
    pointers_.push_back(&copy);
  }
}

Result<std::shared_ptr<const LateOutputs>> LateOutputs::Read(const ContextSlot& slot) {
  const wasinn_io* const* ios = nullptr;
  uint32_t count = 0;
  if (Status status = slot.StatusOf(slot.table().outputs(slot.get(), &ios, &count)); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  if (count > kMost) return Fail(WASINN_TOO_LARGE, "the model made {} outputs, more than {}", count, kMost);
  const std::span<const wasinn_io* const> all(ios, count);
  for (const wasinn_io* io : all) {
    if (io->struct_size < sizeof(wasinn_io)) {
      return Fail(WASINN_RUNTIME_ERROR, "an output has struct_size {}: expected {} or more", io->struct_size,
                  sizeof(wasinn_io));
    }
    if (io->rank <= WASINN_MAX_RANK) continue;
    return Fail(WASINN_UNSUPPORTED_OPERATION, "output '{}' has {} dimensions, more than {}", io->name, io->rank,
                WASINN_MAX_RANK);
  }
  return std::make_shared<const LateOutputs>(all);
}

}  // namespace wasinn::core
