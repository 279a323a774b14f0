#include "core/context_inputs.h"

#include <algorithm>
#include <utility>

#include "core/ios.h"

namespace wasinn::core {

namespace {

// Smaller inputs are copied where the backend wants them, by itself.
constexpr size_t kWorthBackendMemory = 4096;

// A framework may treat a bool of 2 as it likes. `bytes` are ours: no guest writes them any more.
Status CheckBools(uint32_t dtype, std::span<const uint8_t> bytes, const wasinn_io& io) {
  if (dtype != WASINN_BOOL || std::ranges::none_of(bytes, [](uint8_t byte) { return byte > 1; })) return Status();
  return Error(WASINN_INVALID_ARGUMENT, "input '{}': a bool is one byte, 0 or 1", io.name);
}

Status NotHere(const SharedTensor& tensor, const wasinn_io& io) {
  return Error(WASINN_RUNTIME_ERROR, "input '{}': the tensor lies in the memory of {}, which this model has not",
               io.name, tensor.memory());
}

}  // namespace

ContextInputs::ContextInputs(ContextSlot& slot, ContextState& state, const TensorMemory& memory, CopyCount& count,
                             bool by_reference)
    : slot_(slot), state_(state), memory_(memory), count_(count), by_reference_(by_reference) {
  inputs_.resize(slot_.graph().inputs().size());
  for (Input& input : inputs_) input.charge = Charge(memory_.quota);
  grow_ = std::ranges::any_of(slot_.graph().inputs(),
                              [](const wasinn_io* io) { return !IsUnservable(*io) && !IsStatic(*io); });
}

TensorDesc ContextInputs::Own::desc() const {
  TensorDesc desc;
  desc.dtype = dtype;
  desc.rank = static_cast<uint32_t>(dims.size());
  std::ranges::copy(dims, desc.dims);
  return desc;
}

Status ContextInputs::Set(uint32_t index, const TensorDesc& given, std::span<const uint8_t> bytes,
                          const GuestMemory& memory) {
  if (index >= inputs_.size()) return NoSuchIndex("input", index, inputs_.size());
  if (IsJustACopy(index, given, bytes.size())) {
    CopyTensorBytes({inputs_[index].own->data, bytes.size()}, bytes, count_);
    return Status();
  }
  if (IsUnservable(io(index))) return Unservable("input", io(index), slot_.table().name);
  Result<TensorDesc> tensor = Match(index, given, bytes.size());
  if (!tensor) return std::move(tensor.error());
  if (by_reference_ && memory.IsKnownAndUnshared() && CanReadInPlace(index, *tensor, bytes, memory)) {
    return Lend(index, *tensor, bytes, memory);
  }
  return Fill(index, *tensor, bytes);
}

bool ContextInputs::HasPlaceFor(const Input& input, const TensorDesc& given, size_t bytes) {
  if (input.own == nullptr) return false;
  const Own& own = *input.own;
  return !own.looked_at && own.dtype == given.dtype && own.bytes == bytes &&
         std::ranges::equal(own.dims, given.shape());
}

// Frameworks go through the rows of [2^31, 0] as through any, and their sums over nothing take a byte for each: so such an
// input may be no larger than one whose bytes are there.
Result<TensorDesc> ContextInputs::Match(uint32_t index, const TensorDesc& given, uint64_t bytes) const {
  Result<TensorDesc> tensor = MatchInput(io(index), given, bytes);
  if (!tensor || bytes > 0) return tensor;
  const uint64_t missing = MissingBytes(tensor->dtype, tensor->shape()), most = memory_.quota.limit();
  if (missing > most) {
    tensor = std::unexpected(
        Error(WASINN_TOO_LARGE, "input '{}': {} has no element, but its other dimensions exceed the limit of {} bytes",
              io(index).name, Describe(*tensor), most));
  }
  return tensor;
}

// Most are: all was checked, charged and bound when the same was set before.
bool ContextInputs::IsJustACopy(uint32_t index, const TensorDesc& given, size_t bytes) const {
  const Input& input = inputs_[index];
  return input.set && input.in_slot == InSlot::kIt && !by_reference_ && !state_.generates() &&
         HasPlaceFor(input, given, bytes);
}

Status ContextInputs::Fill(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes) {
  Input& input = inputs_[index];
  if (input.tensor != nullptr || input.lent != nullptr) LetGo(index);
  if (Status status = input.charge.Resize(bytes.size()); !status.ok()) return status;
  state_.EndGeneration();
  // From here the old value is gone: after a failure the input is unset, so that the guest never computes on memory
  // that nobody wrote.
  input.set = false;
  Status status = CopyIn(index, tensor, bytes);
  input.set = status.ok();
  return status;
}

// What it takes is charged already.
Status ContextInputs::CopyIn(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes) {
  Input& input = inputs_[index];
  if (input.own == nullptr || input.own->bytes != bytes.size()) {
    if (Status status = MakeOwn(index, bytes.size()); !status.ok()) return status;
  }
  const std::span<uint8_t> copy(input.own->data, bytes.size());
  CopyTensorBytes(copy, bytes, count_);
  // Checked in the copy, since the guest may be writing the original.
  Status status = CheckBools(tensor.dtype, copy, io(index));
  if (status.ok()) status = BindOwn(index, tensor);
  if (!status.ok()) Unbind(index);
  return status;
}

// Memory of another size goes first: what is charged is what is held.
Status ContextInputs::MakeOwn(uint32_t index, size_t bytes) {
  Unbind(index);
  Input& input = inputs_[index];
  input.own.reset();
  auto own = std::make_unique<Own>();
  own->bytes = bytes;
  const Graph& graph = slot_.graph();
  if (bytes >= kWorthBackendMemory && slot_.table().input_memory != nullptr) {
    own->given.struct_size = sizeof(wasinn_tensor);
    Status status = graph.Take(slot_.table().input_memory(graph.model(), bytes, &own->given));
    if (!status.ok()) return status;
    own->data = static_cast<uint8_t*>(own->given.data);
    if (own->data == nullptr)
      return Status(WASINN_RUNTIME_ERROR, "there is no memory for an input", slot_.table().name);
  } else {
    own->buffer = memory_.pool.Take(memory_.pool_user, bytes);
    own->data = own->buffer.data();
  }
  input.own = std::move(own);
  return Status();
}

// Once for a shape: a backend looks at the bytes in a compute, and not before. But text it may have read.
Status ContextInputs::BindOwn(uint32_t index, const TensorDesc& tensor) {
  Input& input = inputs_[index];
  Own& own = *input.own;
  const bool opaque = (io(index).flags & WASINN_IO_OPAQUE) != 0;
  own.looked_at = opaque || tensor.dtype == WASINN_BOOL;
  const bool same = own.dtype == tensor.dtype && std::ranges::equal(own.dims, tensor.shape());
  if (input.in_slot == InSlot::kIt && same && !opaque) return Status();
  own.dtype = tensor.dtype;
  own.dims.assign(tensor.dims, tensor.dims + tensor.rank);
  return BindView(index, tensor, {own.data, own.bytes});
}

Status ContextInputs::BindTensor(uint32_t index, const TensorDesc& desc) {
  const SharedTensor& tensor = *inputs_[index].tensor;
  return BindView(index, desc, tensor.bytes(), tensor.memory());
}

Status ContextInputs::BindView(uint32_t index, const TensorDesc& desc, std::span<const uint8_t> bytes,
                               const char* memory) {
  InSlot& in_slot = inputs_[index].in_slot;
  if (slot_.get() == nullptr) {  // with the next compute
    if (in_slot == InSlot::kIt) in_slot = InSlot::kStale;
    return Status();
  }
  in_slot = InSlot::kNothing;
  wasinn_tensor view = ViewOf(desc, bytes);
  view.memory = memory;
  Status status = slot_.StatusOf(slot_.table().bind_input(slot_.get(), index, &view));
  if (status.ok()) in_slot = InSlot::kIt;
  return status;
}

Status ContextInputs::BindAll(const GuestMemory* memory) {
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    Input& input = inputs_[i];
    if (input.set && (input.in_slot != InSlot::kIt || input.lent != nullptr)) {
      if (Status status = BindSet(i, memory); !status.ok()) return status;
    }
  }
  UnbindLeft();
  return Status();
}

void ContextInputs::UnbindLeft() {
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].in_slot == InSlot::kStale || inputs_[i].in_slot == InSlot::kLeft) Unbind(i);
  }
  any_left_ = false;
}

Status ContextInputs::BindSet(uint32_t index, const GuestMemory* memory) {
  const Input& input = inputs_[index];
  if (input.once != nullptr) return BindView(index, input.once->tensor, input.once->bytes);
  if (input.lent != nullptr) return BindLent(index, memory);
  if (input.tensor == nullptr) {
    const TensorDesc desc = input.own->desc();
    return BindView(index, desc, {input.own->data, input.own->bytes});
  }
  const Result<TensorDesc> desc = MatchInput(io(index), input.tensor->desc(), input.tensor->bytes().size());
  return desc ? BindTensor(index, *desc) : Status(desc.error().code(), std::string(desc.error().message()));
}

void ContextInputs::Unbind(uint32_t index) {
  InSlot& in_slot = inputs_[index].in_slot;
  if (in_slot == InSlot::kNothing) return;
  in_slot = slot_.get() == nullptr ? InSlot::kStale : InSlot::kNothing;
  if (slot_.get() != nullptr) slot_.table().unbind_input(slot_.get(), index);
}

void ContextInputs::LetGo(uint32_t index) {
  state_.EndGeneration();
  Unbind(index);
  Input& input = inputs_[index];
  input.set = false;
  input.tensor.reset();
  input.own.reset();
  EndLoan(input);
  (void)input.charge.Resize(0);
}

void ContextInputs::UnsetAll() {
  for (uint32_t i = 0; i < inputs_.size(); ++i) LetGo(i);
}

Status ContextInputs::CheckAllSet() const {
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].set || (io(i).flags & WASINN_IO_OPTIONAL) != 0) continue;
    if (IsUnservable(io(i))) return Unservable("input", io(i), slot_.table().name);
    return Error(WASINN_INVALID_ARGUMENT, "input {} ('{}') was not set", i, io(i).name);
  }
  return Status();
}

Status ContextInputs::CheckIndex(uint32_t index) const {
  return index < inputs_.size() ? Status() : NoSuchIndex("input", index, inputs_.size());
}

Status ContextInputs::Set(uint32_t index, TensorPtr tensor) {
  if (IsUnservable(io(index))) return Unservable("input", io(index), slot_.table().name);
  Result<TensorDesc> desc = Match(index, tensor->desc(), tensor->bytes().size());
  if (!desc) return std::move(desc.error());
  // Other frameworks' memory may not be as this one likes it. Of a pipeline, what its last step made is for the first.
  const Backend& backend = slot_.graph().backend();
  const bool foreign =
      tensor->origin() != nullptr && (&tensor->origin()->backend() != &backend || backend.is_composed());
  if (tensor->memory() != nullptr) {
    if (!slot_.graph().shares_memory_with(*tensor->origin())) return NotHere(*tensor, io(index));
  } else if (foreign) {
    return Fill(index, *desc, tensor->bytes());
  } else if (Status status = CheckBools(desc->dtype, tensor->bytes(), io(index)); !status.ok()) {
    return status;
  }
  LetGo(index);
  Input& input = inputs_[index];
  input.tensor = std::move(tensor);
  Status status = BindTensor(index, *desc);
  if (!status.ok()) input.tensor.reset();
  input.set = status.ok();
  return status;
}

}  // namespace wasinn::core
