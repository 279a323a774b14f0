#include "core/late_outputs.h"

#include <algorithm>
#include <utility>

#include "core/ios.h"

namespace wasinn::core {

LateOutputs::LateOutputs(std::span<const wasinn_io* const> ios) {
  for (const wasinn_io* io : ios) {
    wasinn_io& copy = ios_.emplace_back(*io);  // of this version's size, as was checked
    copy.struct_size = sizeof(wasinn_io);
    copy.name = names_.emplace_back(io->name).c_str();
    if (io->rank > 0) copy.dims = dims_.emplace_back(io->dims, io->dims + io->rank).data();
    pointers_.push_back(&copy);
    bytes_ += sizeof(wasinn_io) + names_.back().size() + static_cast<uint64_t>(std::max(io->rank, 0)) * sizeof(int64_t);
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
  if (Status status = CheckSignature(all, "output", slot.table().name); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  return std::make_shared<const LateOutputs>(all);
}

}  // namespace wasinn::core
