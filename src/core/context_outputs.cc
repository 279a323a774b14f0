#include "core/context_outputs.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace wasinn::core {

namespace {

// What a context takes for an input or output besides its bytes, here and in a backend: about as much. Of a usual model
// that is nothing, but a guest can make one with a million inputs, and contexts of it.
constexpr uint64_t kFreeIos = 1024, kBytesOfIo = 256;

uint64_t BytesOfIos(const Graph& graph) {
  const uint64_t count = graph.inputs().size() + graph.outputs().size();
  return count <= kFreeIos ? 0 : (count - kFreeIos) * kBytesOfIo;
}

[[gnu::cold]] Status NotComputed() {
  return Error(WASINN_INVALID_ARGUMENT, "there is no output before a successful compute");
}

}  // namespace

ContextOutputs::ContextOutputs(ContextSlot& slot, ContextState& state, const TensorMemory& memory, CopyCount& count)
    : slot_(slot),
      state_(state),
      memory_(memory),
      count_(count),
      static_(memory.quota),
      dynamic_(memory.quota),
      late_bytes_(memory.quota) {}

Status ContextOutputs::Open() {
  const Graph& graph = slot_.graph();
  uint64_t total = BytesOfIos(graph);
  outputs_.reserve(graph.outputs().size());
  grow_ = graph.has_late_outputs();
  for (const wasinn_io* io : graph.outputs()) {
    Output& output = outputs_.emplace_back();
    output.bindable = (io->flags & WASINN_IO_BINDABLE) != 0;
    all_bindable_ = all_bindable_ && output.bindable;
    if (IsUnservable(*io)) continue;
    if (!IsStatic(*io)) {
      grow_ = true;
      continue;
    }
    const std::optional<uint64_t> size = StaticSize(*io);
    if (!size || __builtin_add_overflow(total, *size, &total)) {
      return Error(WASINN_TOO_LARGE, "output '{}' {} is too large", io->name, Describe(*io));
    }
    output.fixed_bytes = *size;
  }
  all_bindable_ = all_bindable_ && !graph.has_late_outputs();
  return static_.Resize(total);
}

void ContextOutputs::LeaveSlot() {
  uint64_t total = static_.held();
  for (const Output& output : outputs_) {
    if (!output.bindable) total -= output.fixed_bytes;
  }
  (void)static_.Resize(total);  // less than before
}

std::shared_ptr<const void> ContextOutputs::owner() const {
  if (late_ != nullptr) return late_;
  return slot_.shared_graph();
}

void ContextOutputs::Begin() {
  taken_.clear();
  if (!slot_.is_own()) ForgetMoved();
  late_.reset();
}

void ContextOutputs::ForgetMoved() {
  for (Output& output : outputs_) {
    if (std::exchange(output.moved, nullptr) != nullptr) output.view.struct_size = 0;  // which shows it
  }
}

// Memory that another guest had is zeroed: should ever an output be left as it is, nobody sees what was in it.
Status ContextOutputs::BindAll() {
  bound_ = false;
  for (uint32_t i = 0; i < outputs_.size(); ++i) {
    Output& output = outputs_[i];
    if (!output.bindable) continue;
    if (output.lent == nullptr && output.memory.data() == nullptr) {
      output.memory = memory_.pool.TakeClean(memory_.pool_user, output.fixed_bytes);
    }
    const wasinn_io& io = *slot_.graph().outputs()[i];
    output.view = {.struct_size = sizeof(wasinn_tensor),
                   .dtype = io.dtype,
                   .rank = static_cast<uint32_t>(io.rank),
                   .dims = io.dims,
                   .data = output.lent != nullptr ? output.lent : output.memory.data(),
                   .bytes = output.fixed_bytes,
                   .owner = nullptr,
                   .release = nullptr};
    if (output.bound == output.view.data) continue;
    output.bound = nullptr;
    const wasinn_backend& table = slot_.table();
    if (Status status = slot_.StatusOf(table.bind_output(slot_.get(), i, &output.view)); !status.ok()) return status;
    output.bound = output.view.data;
  }
  bound_ = true;
  return Status();
}

Status ContextOutputs::ReadLate() {
  auto late = LateOutputs::Read(slot_);
  if (!late) return std::move(late.error());
  late_ = nullptr;
  if (Status status = late_bytes_.Resize((*late)->bytes()); !status.ok()) return status;
  late_ = std::move(*late);
  return Status();
}

// Those that are wanted and stayed there.
Status ContextOutputs::Move() {
  for (uint32_t i = 0; i < outputs_.size(); ++i) {
    Output& output = outputs_[i];
    if (IsUnservable(*slot_.graph().outputs()[i]) || LiesInOwn(i)) continue;
    output.view.struct_size = 0;
    if (!wanted().Has(i)) {
      // What is held of it stays there.
      wasinn_tensor view{};
      if (Status status = View(i, view); !status.ok()) return status;
      if (view.bytes > output.fixed_bytes) outgrown_ = true;
      continue;
    }
    Result<TensorPtr> tensor = Take(i);
    if (!tensor) return std::move(tensor.error());
    output.moved = std::move(*tensor);
    output.view = ViewOf(output.moved->desc(), output.moved->bytes());
  }
  return Status();
}

Status ContextOutputs::CountThoseInSlot() {
  if (slot_.get() == nullptr) return Status();  // that was before they were moved
  const std::span<const wasinn_io* const> all = ios();
  uint64_t total = 0;
  wasinn_tensor other{};
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (IsUnservable(*all[i]) || LiesInOwn(i)) continue;
    const uint64_t fixed = FixedSize(i);
    wasinn_tensor& view = fixed > 0 ? outputs_[i].view : other;
    // One that turns out to be no tensor fails the compute, since what it takes cannot be counted.
    if (Status status = View(i, view); !status.ok()) return status;
    total += view.bytes - std::min<uint64_t>(view.bytes, BytesInSlot(i));
  }
  if (total > 0) outgrown_ = true;
  return dynamic_.Resize(total);
}

void ContextOutputs::Discard() {
  if (!slot_.is_own()) {
    ForgetMoved();
    (void)dynamic_.Resize(0);
    return;
  }
  if (!grow() && !elsewhere_) return;
  // First, so that a backend that must keep some of them (for a state) can charge that in their place.
  (void)dynamic_.Resize(0);
  if (slot_.table().discard_outputs != nullptr) slot_.table().discard_outputs(slot_.get());
}

Status ContextOutputs::View(uint32_t index, wasinn_tensor& view) const {
  if (index < taken_.size() && taken_[index] != nullptr) {
    view = ViewOf(taken_[index]->desc(), taken_[index]->bytes());
    return Status();
  }
  if (LiesInOwn(index) || WasMoved(index)) {
    view = outputs_[index].view;
    return Status();
  }
  const bool given_away = index < outputs_.size() && outputs_[index].bindable && !elsewhere_;
  if (slot_.get() == nullptr || given_away) {
    return Error(WASINN_INVALID_ARGUMENT, "output {} is not there: compute first", index);
  }
  view = {.struct_size = sizeof(wasinn_tensor)};
  Status status = slot_.StatusOf(slot_.table().output(slot_.get(), index, &view));
  if (!status.ok()) return status;
  if (view.memory != nullptr) {
    if (Status lies = CheckMemory(index, view.memory); !lies.ok()) return lies;
  }
  return CheckView(view, slot_.table().name);
}

// Nothing else may be told that it is not in the host's memory, for it would be read there.
Status ContextOutputs::CheckMemory(uint32_t index, const char* memory) const {
  const char* const own = slot_.graph().memory();
  if (std::ranges::binary_search(kept_, index) && own != nullptr && std::string_view(own) == memory) return Status();
  return Status(WASINN_RUNTIME_ERROR,
                fmt::format("output {} is in the memory of {}: expected the host's", index, memory),
                slot_.table().name);
}

Status ContextOutputs::Check(uint32_t index) const {
  if (slot_.graph().has_late_outputs() && late_ == nullptr) return NotComputed();
  const std::span<const wasinn_io* const> all = ios();
  if (index >= all.size()) return NoSuchIndex("output", index, all.size());
  const wasinn_io& io = *all[index];
  if (IsUnservable(io)) return Unservable("output", io, slot_.table().name);
  if (!wanted().Has(index)) {
    return Error(WASINN_INVALID_ARGUMENT, "output '{}' was not produced: set_output chose others", io.name);
  }
  if (state_.has_outputs() || (io.flags & WASINN_IO_ALWAYS) != 0) return Status();
  return NotComputed();
}

Status ContextOutputs::Get(uint32_t index, std::span<uint8_t> buffer, uint64_t& size) {
  if (Status status = Check(index); !status.ok()) return status;
  const wasinn_io& io = *ios()[index];
  if (const wasinn_tensor* seen = Seen(index)) return CopyOut(io, *seen, buffer, size, count_);
  wasinn_tensor view{};
  if (Status status = View(index, view); !status.ok()) return status;
  return CopyOut(io, view, buffer, size, count_);
}

Status ContextOutputs::Get(uint32_t index, const BufferOf& buffer_of, uint64_t& size) {
  if (Status status = Check(index); !status.ok()) return status;
  wasinn_tensor view{};
  const wasinn_tensor* seen = Seen(index);
  if (seen == nullptr) {
    if (Status status = View(index, view); !status.ok()) return status;
    seen = &view;
  }
  Result<std::span<uint8_t>> buffer = buffer_of(seen->dtype);
  if (!buffer) return std::move(buffer.error());
  return CopyOut(*ios()[index], *seen, *buffer, size, count_);
}

Result<uint32_t> ContextOutputs::Find(std::string_view name) const {
  if (!slot_.graph().has_late_outputs()) return slot_.graph().FindOutput(name);
  if (late_ == nullptr) return std::unexpected(NotComputed());
  return Graph::FindIn(ios(), "output", name);
}

}  // namespace wasinn::core
