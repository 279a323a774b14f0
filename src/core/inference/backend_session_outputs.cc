// The outputs of a session on a backend's slot: the place and the charge of their bytes.
#include <algorithm>
#include <utility>

#include "core/inference/backend_session.h"
#include "core/inference/ios.h"

namespace wasinn::core {

// Memory that another guest had is zeroed: if an output is ever left unwritten, no guest sees old bytes.
Status BackendSession::BindOutputs(const InferenceRequest& request) {
  for (uint32_t i = 0; i < outputs_.size(); ++i) {
    Output& output = outputs_[i];
    if (!output.bindable) continue;
    void* destination = request.destinations.empty() ? nullptr : request.destinations[i];
    if (destination == nullptr) {
      if (output.memory.data() == nullptr) {
        output.memory = resources_.memory.pool.TakeClean(resources_.memory.pool_user, output.fixed_bytes);
      }
      destination = output.memory.data();
    }
    if (output.bound == destination && output.view.struct_size != 0) continue;
    RETURN_IF_ERROR(BindOutput(i, destination));
  }
  return Status();
}

Status BackendSession::BindOutput(uint32_t index, void* destination) {
  all_bound_ = 0;
  Output& output = outputs_[index];
  const wasinn_io& io = *graph_->outputs()[index];
  output.view = {.struct_size = sizeof(wasinn_tensor),
                 .dtype = io.dtype,
                 .rank = static_cast<uint32_t>(io.rank),
                 .dims = io.dims,
                 .data = destination,
                 .bytes = output.fixed_bytes,
                 .owner = nullptr,
                 .release = nullptr};
  if (output.bound == destination) return Status();
  output.bound = nullptr;
  Status status = StatusOf(table().bind_output(slot_, index, &output.view));
  if (status.ok()) output.bound = destination;
  return status;
}

void BackendSession::SetElsewhere() {
  all_bound_ = 0;
  elsewhere_ = true;
  for (Output& output : outputs_) {
    output.bound = nullptr;
    output.view.struct_size = 0;
  }
}

// Whether the output is in the memory that the backend was given for the last run.
bool BackendSession::LiesInOwn(uint32_t index) const {
  return !elsewhere_ && index < outputs_.size() && outputs_[index].bindable && outputs_[index].view.struct_size != 0;
}

// Bytes that are charged with the slot, from its creation.
uint64_t BackendSession::BytesInSlot(uint32_t index) const {
  return owns_slot_ && index < outputs_.size() && !outputs_[index].bindable ? outputs_[index].fixed_bytes : 0;
}

Status BackendSession::ReadDynamic() {
  const wasinn_io* const* ios = nullptr;
  uint32_t count = 0;
  RETURN_IF_ERROR(StatusOf(table().outputs(slot_, &ios, &count)));
  if (count > DynamicOutputs::kMax) {
    return Error(WASINN_ERROR_TOO_LARGE, "the model made {} outputs, more than {}", count, DynamicOutputs::kMax);
  }
  RETURN_IF_ERROR(CheckSignature({ios, count}, "output", table().name));
  return SetDynamic({ios, count});
}

// Charges memory beyond the signature, which may be wrong. An output that turns out to be no tensor fails the run,
// since its size cannot be counted. Outputs that are bound, or were moved out of a slot, are charged already.
Status BackendSession::ChargeOutputs() {
  const std::span<const wasinn_io* const> all = outputs();
  uint64_t total = 0;
  wasinn_tensor other{};
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (IsUnservable(*all[i]) || LiesInOwn(i)) continue;
    wasinn_tensor& view = i < outputs_.size() ? outputs_[i].view : other;
    RETURN_IF_ERROR(Ask(i, view));
    total += view.bytes - std::min<uint64_t>(view.bytes, BytesInSlot(i));
  }
  if (total > 0) outgrown_ = true;
  return dynamic_.Resize(total);
}

// Moves the wanted outputs out of the slot, which another session uses next.
Status BackendSession::MoveOutputs(const InferenceRequest& request) {
  for (uint32_t i = 0; i < outputs_.size(); ++i) {
    if (IsUnservable(*graph_->outputs()[i]) || LiesInOwn(i)) continue;
    if (!request.wanted.empty() && !std::ranges::binary_search(request.wanted, i)) {
      // Memory held for an unwanted output stays there.
      wasinn_tensor view{};
      RETURN_IF_ERROR(Ask(i, view));
      if (view.bytes > outputs_[i].fixed_bytes) outgrown_ = true;
      continue;
    }
    ASSIGN_OR_RETURN(outputs_[i].moved, Take(i));
    outputs_[i].view = ViewOf(outputs_[i].moved->desc(), outputs_[i].moved->bytes());
  }
  return Status();
}

void BackendSession::Discard() {
  HideOutputs();
  for (Output& output : outputs_) {
    output.moved.reset();
    if (!output.bindable || output.view.data != output.memory.data()) all_bound_ = output.view.struct_size = 0;
  }
  if (owns_slot_ && !grows() && !elsewhere_) return;
  // Done first, so that a backend that must keep some of them (for a state) can charge that instead.
  (void)dynamic_.Resize(0);
  if (slot_ != nullptr && table().discard_outputs != nullptr) table().discard_outputs(slot_);
}

Status BackendSession::Ask(uint32_t index, wasinn_tensor& view) const {
  const bool given_away = index < outputs_.size() && outputs_[index].bindable && !elsewhere_;
  if (slot_ == nullptr || given_away) return NotThere(index);
  wasinn_tensor asked{.struct_size = sizeof(wasinn_tensor)};
  RETURN_IF_ERROR(StatusOf(table().output(slot_, index, &asked)));
  if (asked.memory != nullptr) {
    RETURN_IF_ERROR(CheckMemory(index, asked.memory));
  }
  RETURN_IF_ERROR(CheckView(asked, table().name));
  view = asked;
  return Status();
}

Status BackendSession::View(uint32_t index, const wasinn_tensor*& view) {
  wasinn_tensor& known = index < outputs_.size() ? outputs_[index].view : other_view_;
  view = &known;
  return &known != &other_view_ && known.struct_size != 0 ? Status() : Ask(index, known);
}

// The backend may report only kept outputs in a device's memory: others would be read as the host's.
Status BackendSession::CheckMemory(uint32_t index, const char* memory) const {
  const char* const own = graph_->memory();
  if (std::ranges::binary_search(kept_, index) && own != nullptr && std::string_view(own) == memory) return Status();
  return Status(WASINN_ERROR_RUNTIME,
                fmt::format("output {} is in the memory of {}: expected the host's", index, memory), table().name);
}

// Outputs that are kept are treated like any that the framework allocates.
void BackendSession::Keep(std::span<const uint32_t> indices) {
  all_bound_ = 0;
  kept_.assign(indices.begin(), indices.end());
  for (const uint32_t index : indices) {
    Output& output = outputs_[index];
    all_bindable_ = false;
    if (std::exchange(output.bindable, false) && !owns_slot_) (void)static_.Resize(static_.held() - output.fixed_bytes);
  }
}

Result<TensorPtr> BackendSession::Take(uint32_t index) {
  if (index < outputs_.size() && outputs_[index].moved != nullptr) return outputs_[index].moved;
  const wasinn_tensor* view = nullptr;
  RETURN_IF_ERROR(View(index, view));
  if (LiesInOwn(index)) {
    if (view->data == outputs_[index].memory.data()) return TakeOwn(index);
  } else {
    if (view->bytes > FixedBytes(index)) outgrown_ = true;
    // An output that may be read again, or may still grow, stays where it is.
    const bool stays = has_generated() || (outputs()[index]->flags & WASINN_IO_ALWAYS) != 0;
    if (table().take_output != nullptr && !stays) return TakeFromSlot(index, *view);
  }
  return SharedTensor::Copy(DescOf(*view), {static_cast<const uint8_t*>(view->data), view->bytes},
                            resources_.memory.pool, resources_.memory.pool_user, Reservation(resources_.memory.quota),
                            *resources_.out);
}

// The next run gets other memory.
Result<TensorPtr> BackendSession::TakeOwn(uint32_t index) {
  Output& output = outputs_[index];
  Reservation charge(resources_.memory.quota);
  RETURN_IF_ERROR(charge.Resize(output.fixed_bytes));
  TensorPtr tensor =
      SharedTensor::Of(DescOf(output.view), output.fixed_bytes, std::move(output.memory), std::move(charge));
  output.view.struct_size = 0;
  output.bound = nullptr;
  all_bound_ = 0;
  return tensor;
}

Result<TensorPtr> BackendSession::TakeFromSlot(uint32_t index, const wasinn_tensor& view) {
  const auto tensor = SharedTensor::New();
  const uint64_t bytes = view.bytes;
  // Memory beyond the signature moves from the session's charge to the tensor's.
  const uint64_t beyond = bytes - std::min<uint64_t>(bytes, BytesInSlot(index));
  Reservation charge = dynamic_.Split(beyond);
  if (Status status = charge.Resize(bytes); !status.ok()) {
    Discard();
    return std::unexpected(std::move(status));
  }
  const TensorDesc desc = DescOf(view);
  wasinn_tensor taken{.struct_size = sizeof(wasinn_tensor)};
  Status status = StatusOf(table().take_output(slot_, index, &taken));
  if (!status.ok()) {
    (void)charge.Resize(beyond);  // the backend still has it
    dynamic_.Merge(std::move(charge));
    return std::unexpected(std::move(status));
  }
  if (index < outputs_.size()) outputs_[index].view.struct_size = 0;
  if (taken.memory != nullptr) status = CheckMemory(index, taken.memory);
  tensor->Adopt(graph_, desc, taken, std::move(charge));
  if (!status.ok()) return std::unexpected(std::move(status));
  if (taken.bytes == bytes && (taken.data != nullptr || bytes == 0)) return tensor;
  return std::unexpected(Status(WASINN_ERROR_RUNTIME,
                                fmt::format("the backend gave {} bytes of an output of {}", taken.bytes, bytes),
                                table().name));
}

}  // namespace wasinn::core
