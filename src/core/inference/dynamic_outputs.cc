#include "core/inference/dynamic_outputs.h"

#include <algorithm>

namespace wasinn::core {

DynamicOutputs::DynamicOutputs(std::span<const wasinn_io* const> ios) {
  for (const wasinn_io* io : ios) {
    wasinn_io& copy = ios_.emplace_back(*io);  // of this version's size, which was checked
    copy.struct_size = sizeof(wasinn_io);
    copy.name = names_.emplace_back(io->name).c_str();
    if (io->rank > 0) copy.dims = dims_.emplace_back(io->dims, io->dims + io->rank).data();
    pointers_.push_back(&copy);
    bytes_ += sizeof(wasinn_io) + names_.back().size() + static_cast<uint64_t>(std::max(io->rank, 0)) * sizeof(int64_t);
  }
}

}  // namespace wasinn::core
