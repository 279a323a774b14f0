// The outputs of a context: which are wanted, and how they get to the guest.
#include <algorithm>
#include <utility>

#include "core/inference/context.h"
#include "core/inference/ios.h"

namespace wasinn::core {
namespace {

[[gnu::cold]] Status NotComputed() {
  return Error(WASINN_ERROR_INVALID_ARGUMENT, "there is no output before a successful compute");
}

// The guest reads an output that it did not choose: leaving it out silently would be wrong.
[[gnu::cold]] Status NotChosen(const wasinn_io& io, const char* backend) {
  const Status why = Unservable("output", io, backend);
  return why.With(fmt::format("{}: choose the other outputs by their names", why.message()));
}

}  // namespace

// ---- Choosing outputs

Status Context::CheckWantable(uint32_t index) const {
  const size_t count = graph_->has_dynamic_outputs() ? DynamicOutputs::kMax : graph_->outputs().size();
  if (index >= count) return NoSuchIndex("output", index, count);
  if (graph_->has_dynamic_outputs() || !IsUnservable(*graph_->outputs()[index])) return Status();
  return Unservable("output", *graph_->outputs()[index], graph_->backend_name());
}

// Outputs of an earlier compute are not the ones that are wanted now. A generation makes all outputs.
Status Context::WantOutput(const Destination& destination) {
  RETURN_IF_ERROR(CheckWantable(destination.index));
  const size_t before = wanted_.indices().size();
  wanted_.Add(destination);
  if (wanted_.indices().size() != before && !session_->has_generated()) session_->HideOutputs();
  return Status();
}

Status Context::SelectOutputs(std::span<const uint32_t> indices) {
  for (uint32_t index : indices) {
    RETURN_IF_ERROR(CheckWantable(index));
  }
  wanted_.Select(indices);
  if (!session_->has_generated()) session_->HideOutputs();
  return Status();
}

// ---- Passing outputs to the guest

Result<uint32_t> Context::FindOutput(std::string_view name) const {
  if (!graph_->has_dynamic_outputs()) return graph_->FindOutput(name);
  if (session_->lacks_outputs()) return std::unexpected(NotComputed());
  return Graph::FindIn(session_->outputs(), "output", name);
}

Status Context::CheckOutput(uint32_t index, const WantedOutputs& wanted) const {
  if (session_->lacks_outputs()) return NotComputed();
  const std::span<const wasinn_io* const> all = session_->outputs();
  if (index >= all.size()) return NoSuchIndex("output", index, all.size());
  const wasinn_io& io = *all[index];
  const bool is_there = session_->has_outputs() || (io.flags & WASINN_IO_ALWAYS) != 0;
  if (is_there && wanted.all() && (io.flags & WASINN_IO_UNSERVABLE) == 0) [[likely]]
    return Status();
  if (IsUnservable(io)) return Unservable("output", io, graph_->backend_name());
  if (!wanted.Has(index)) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "output '{}' was not produced: set_output chose others", io.name);
  }
  return is_there ? Status() : NotComputed();
}

Status Context::View(uint32_t index, const wasinn_tensor*& view) {
  if (index >= taken_.size() || taken_[index] == nullptr) return session_->View(index, view);
  taken_view_ = ViewOf(taken_[index]->desc(), taken_[index]->bytes());
  view = &taken_view_;
  return Status();
}

Status Context::GetOutput(uint32_t index, std::span<uint8_t> buffer, uint64_t& size) {
  const Meter::Timing timing(meter_, Stage::kOutput);
  RETURN_IF_ERROR(CheckOutput(index, wanted_));
  const wasinn_tensor* view = nullptr;
  Status status = taken_.empty() ? session_->View(index, view) : View(index, view);
  return status.ok() ? CopyOut(*session_->outputs()[index], *view, buffer, size, count_out_) : std::move(status);
}

Result<uint32_t> Context::OutputDtype(uint32_t index) {
  RETURN_IF_ERROR(CheckOutput(index, wanted_));
  const wasinn_tensor* view = nullptr;
  RETURN_IF_ERROR(View(index, view));
  return view->dtype;
}

Result<TensorPtr> Context::TakeOutput(uint32_t index) {
  const Meter::Timing timing(meter_, Stage::kOutput);
  RETURN_IF_ERROR(CheckOutput(index, wanted_));
  taken_.resize(session_->outputs().size());
  if (taken_[index] != nullptr) return taken_[index];
  Result<TensorPtr> tensor = session_->Take(index);
  if (tensor) taken_[index] = *tensor;
  return tensor;
}

Status Context::CollectOutputs(std::pmr::vector<TensorOutput>& computed) {
  const Meter::Timing timing(meter_, Stage::kOutput);
  const std::span<const wasinn_io* const> outputs = session_->outputs();
  computed.reserve(outputs.size());
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    computed.push_back({outputs[i]->name, nullptr});
    if (!wanted_.Has(i)) continue;
    if (IsUnservable(*outputs[i])) return NotChosen(*outputs[i], graph_->backend_name());
    ASSIGN_OR_RETURN(computed.back().tensor, session_->Take(i));
  }
  return Status();
}

// Writes the outputs with destinations.
Status Context::WriteOutputs(const GuestMemory& memory) {
  if (wanted_.all()) return Status();
  const Meter::Timing timing(meter_, Stage::kOutput);
  Status first;
  for (const Destination& destination : wanted_.destinations()) {
    if (destination.buffer == 0) continue;
    Status written = WriteOutput(destination, memory);
    if (!written.ok() && first.ok()) first = std::move(written);
  }
  return first;
}

// Checks again, because the memory may be another one by now.
Status Context::WriteOutput(const Destination& destination, const GuestMemory& memory) {
  RETURN_IF_ERROR(CheckOutput(destination.index, wanted_));
  const wasinn_tensor* view = nullptr;
  RETURN_IF_ERROR(View(destination.index, view));
  const auto size = static_cast<uint32_t>(std::min<size_t>(view->bytes, UINT32_MAX));
  if (!memory.Store(destination.written, size)) {
    return OutOfRange("the place for an output's size", destination.written, sizeof(size));
  }
  const auto buffer = memory.Range(destination.buffer, destination.size);
  if (!buffer) return OutOfRange("an output buffer", destination.buffer, destination.size);
  if (view->bytes > buffer->size()) {
    return Error(WASINN_ERROR_TOO_LARGE, "output {} has {} bytes, its buffer {}", destination.index, view->bytes,
                 buffer->size());
  }
  CopyTensorBytes(buffer->first(view->bytes), {static_cast<const uint8_t*>(view->data), view->bytes}, count_out_);
  return Status();
}

}  // namespace wasinn::core
