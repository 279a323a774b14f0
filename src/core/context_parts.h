// The parts of a compute that Context and AsyncCompute share. Each compute runs them, so they are inlined.
#pragma once

#include <span>
#include <utility>

#include "core/context.h"

namespace wasinn::core {

inline Status Context::CountAndWrite(Status status, const GuestMemory* memory) {
  if (LeavesOutputs(status)) {
    if (Status charged = CountOutputs(); !charged.ok()) return charged;
    state_.SetComputed();
  }
  if (!status.ok()) return status;
  if (memory == nullptr || outputs_.wanted().all()) return Status();
  const Meter::Timing timing(meter_, Stage::kOutput);
  return outputs_.Write(*memory);
}

inline Status Context::BeginExecuting(const GuestMemory* memory) {
  if (Status status = inputs_.CheckAllSet(); !status.ok()) return status;
  if (inputs_.any_lent()) {
    if (Status status = inputs_.CheckLent(memory); !status.ok()) return status;
  }
  state_.EndGeneration();
  state_.Clear();
  outputs_.Begin();
  return Status();
}

inline Status Context::EndExecuting(Status status, bool overdue) {
  if (LeavesOutputs(status) && !run_.cancelled()) {
    Status read = outputs_.Read();
    if (read.ok()) [[likely]]
      return status.ok() ? Status() : WithOutputs(std::move(status), overdue);
    status = std::move(read);
  }
  outputs_.Discard();
  return Failed(std::move(status), overdue);
}

inline wasinn_compute_options Context::ComputeOptions() const {
  const std::span<const uint32_t> wanted = outputs_.wanted().indices();
  return {.struct_size = sizeof(wasinn_compute_options),
          .n_wanted = static_cast<uint32_t>(wanted.size()),
          .wanted = wanted.data(),
          .deadline_ms = static_cast<uint64_t>(terms_.time_left.count()),
          .max_bytes = terms_.max_bytes,
          .n_kept = static_cast<uint32_t>(outputs_.kept().size()),
          .kept = outputs_.kept().data()};
}

}  // namespace wasinn::core
