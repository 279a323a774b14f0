#include "core/inference/inputs.h"

#include <algorithm>
#include <utility>

#include "core/inference/ios.h"

namespace wasinn::core {
namespace {

// A framework may do anything with a bool of 2. `bytes` are the host's: no guest writes them any more.
Status CheckBools(uint32_t dtype, std::span<const uint8_t> bytes, const wasinn_io& io) {
  if (dtype != WASINN_DTYPE_BOOL || std::ranges::none_of(bytes, [](uint8_t byte) { return byte > 1; })) return Status();
  return Error(WASINN_ERROR_INVALID_ARGUMENT, "input '{}': a bool is one byte, 0 or 1", io.name);
}

Status NotHere(const SharedTensor& tensor, const wasinn_io& io) {
  return Error(WASINN_ERROR_RUNTIME, "input '{}': the tensor is in the memory of {}, which this model cannot read",
               io.name, tensor.memory());
}

}  // namespace

Inputs::Inputs(Session& session, const TensorMemory& memory, CopyCount& count)
    : session_(session),
      memory_(memory),
      count_(count),
      inputs_(session.graph().inputs().size()),
      own_(std::make_unique<Own[]>(inputs_.size())) {
  for (size_t i = 0; i < inputs_.size(); ++i) own_[i].charge = Reservation(memory_.quota);
}

void Inputs::Own::Free() {
  if (data == nullptr) return;
  if (given.release != nullptr) given.release(given.owner);
  given = {};
  buffer = {};
  data = nullptr;
  bytes = 0;
}

Status Inputs::NoSuchIndex(uint32_t index) const { return core::NoSuchIndex("input", index, inputs_.size()); }

Status Inputs::CheckAllSet() const {
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].set || (io(i).flags & WASINN_IO_OPTIONAL) != 0) continue;
    if (IsUnservable(io(i))) return Unservable("input", io(i), session_.graph().backend_name());
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "input {} ('{}') was not set", i, io(i).name);
  }
  return Status();
}

// Frameworks go through the rows of [2^31, 0] like any others, and their sums over nothing take a byte for each row. So
// such an input may be no larger than one whose bytes exist.
Result<TensorDesc> Inputs::Match(uint32_t index, const TensorDesc& given, uint64_t bytes) const {
  if (IsUnservable(io(index))) {
    return std::unexpected(Unservable("input", io(index), session_.graph().backend_name()));
  }
  Result<TensorDesc> tensor = MatchInput(io(index), given, bytes);
  if (!tensor || bytes > 0) return tensor;
  const uint64_t missing = MissingBytes(tensor->dtype, tensor->shape()), most = memory_.quota.limit();
  if (missing > most) {
    tensor = std::unexpected(Error(
        WASINN_ERROR_TOO_LARGE, "input '{}': {} has no element, but its other dimensions exceed the limit of {} bytes",
        io(index).name, Describe(*tensor), most));
  }
  return tensor;
}

bool Inputs::HasRoomFor(uint32_t index, const TensorDesc& given, size_t bytes) const {
  const Own& own = own_[index];
  const TensorDesc& desc = inputs_[index].desc;
  return own.data != nullptr && own.bytes == bytes && !own.looked_at && desc.dtype == given.dtype &&
         std::ranges::equal(desc.shape(), given.shape());
}

Status Inputs::SetAnew(uint32_t index, const TensorDesc& given, std::span<const uint8_t> bytes) {
  Result<TensorDesc> tensor = Match(index, given, bytes.size());
  return tensor ? Fill(index, *tensor, bytes) : std::move(tensor.error());
}

Status Inputs::Fill(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes) {
  Input& input = inputs_[index];
  if (input.tensor != nullptr) LetGo(index);
  RETURN_IF_ERROR(own_[index].charge.Resize(bytes.size()));
  session_.EndGeneration();
  // From here on the old value is lost: after a failure the input is unset, so that the guest never computes on memory
  // that was never written.
  SetOrUnset(index, false);
  Status status = CopyIn(index, tensor, bytes);
  if (status.ok()) {
    SetOrUnset(index, true);
  } else {
    LetGo(index);
  }
  return status;
}

// Its memory is charged already. It is bound once for a shape: a backend reads the bytes only in a compute. But it may
// have read text at once.
Status Inputs::CopyIn(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes) {
  Input& input = inputs_[index];
  Own& own = own_[index];
  const bool is_new = own.data == nullptr || own.bytes != bytes.size();
  if (is_new) {
    RETURN_IF_ERROR(MakeOwn(index, bytes.size()));
  }
  const std::span<uint8_t> copy(own.data, bytes.size());
  CopyTensorBytes(copy, bytes, count_);
  // Checked in the copy, since the guest may be writing the original.
  RETURN_IF_ERROR(CheckBools(tensor.dtype, copy, io(index)));
  const bool opaque = (io(index).flags & WASINN_IO_OPAQUE) != 0;
  own.looked_at = opaque || tensor.dtype == WASINN_DTYPE_BOOL;
  const bool same = input.desc.dtype == tensor.dtype && std::ranges::equal(input.desc.shape(), tensor.shape());
  if (is_new || !same || opaque) Change(input, tensor, copy);
  return session_.Bind(index, input);
}

void Inputs::Change(Input& input, const TensorDesc& desc, std::span<const uint8_t> bytes) {
  input.desc = desc;
  input.bytes = bytes;
  input.version = ++versions_;
}

// Memory of another size is freed first, so that the charge equals the memory.
Status Inputs::MakeOwn(uint32_t index, size_t bytes) {
  session_.Unbind(index);
  Own& own = own_[index];
  own.Free();
  if (bytes >= kWorthBinding) {
    own.given.struct_size = sizeof(wasinn_tensor);
    RETURN_IF_ERROR(session_.NewInputMemory(bytes, own.given));
  }
  if (own.given.data == nullptr) own.buffer = memory_.pool.Take(memory_.pool_user, bytes);
  own.data = own.given.data != nullptr ? static_cast<uint8_t*>(own.given.data) : own.buffer.data();
  own.bytes = bytes;
  return Status();
}

Status Inputs::Set(uint32_t index, TensorPtr tensor) {
  Result<TensorDesc> desc = Match(index, tensor->desc(), tensor->bytes().size());
  if (!desc) return std::move(desc.error());
  // This framework may not accept other frameworks' memory. A pipeline's steps check that themselves.
  const Graph& graph = session_.graph();
  const bool foreign =
      tensor->origin() != nullptr && graph.backend() != nullptr && tensor->origin()->backend() != graph.backend();
  if (tensor->memory() != nullptr) {
    if (!graph.shares_memory_with(*tensor->origin())) return NotHere(*tensor, io(index));
  } else if (foreign) {
    return Fill(index, *desc, tensor->bytes());
  } else if (Status status = CheckBools(desc->dtype, tensor->bytes(), io(index)); !status.ok()) {
    return status;
  }
  LetGo(index);
  Input& input = inputs_[index];
  input.tensor = std::move(tensor);
  Change(input, *desc, input.tensor->bytes());
  Status status = session_.Bind(index, input);
  if (!status.ok()) input.tensor.reset();
  SetOrUnset(index, status.ok());
  return status;
}

void Inputs::LetGo(uint32_t index) {
  session_.EndGeneration();
  session_.Unbind(index);
  Input& input = inputs_[index];
  SetOrUnset(index, false);
  input.borrowed = false;
  input.tensor.reset();
  own_[index].Free();
  (void)own_[index].charge.Resize(0);
}

void Inputs::UnsetAll() {
  for (uint32_t i = 0; i < inputs_.size(); ++i) LetGo(i);
}

// ---- Inputs of one call

Status Inputs::SetOnce(std::span<OnceInput> given, const GuestMemory& memory) {
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].set) LetGo(i);
  }
  for (const OnceInput& one : given) {
    RETURN_IF_ERROR(SetOneOnce(one, memory));
  }
  return Status();
}

Status Inputs::SetOneOnce(const OnceInput& given, const GuestMemory& memory) {
  const uint32_t index = given.index;
  if (index >= inputs_.size()) return NoSuchIndex(index);
  Input& input = inputs_[index];
  if (input.set) return Error(WASINN_ERROR_INVALID_ARGUMENT, "input '{}' is given twice", io(index).name);
  const bool worth_binding = given.bytes.size() >= kWorthBinding;
  if (!worth_binding && HasRoomFor(index, given.tensor, given.bytes.size())) {
    CopyTensorBytes({own_[index].data, given.bytes.size()}, given.bytes, count_);
    SetOrUnset(index, true);
    return Status();
  }
  Result<TensorDesc> tensor = Match(index, given.tensor, given.bytes.size());
  if (!tensor) return std::move(tensor.error());
  if (!worth_binding || !CanReadInPlace(index, *tensor, given.bytes, memory)) return Fill(index, *tensor, given.bytes);
  LetGo(index);
  Change(input, *tensor, given.bytes);
  SetOrUnset(index, true);
  input.borrowed = true;
  return Status();
}

// The host checks bools in a copy, so that the guest cannot change them afterwards. Backends read opaque inputs
// themselves, perhaps more than once.
bool Inputs::CanReadInPlace(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes,
                            const GuestMemory& lender) const {
  if (bytes.empty() || tensor.dtype == WASINN_DTYPE_BOOL || (io(index).flags & WASINN_IO_OPAQUE) != 0) return false;
  return lender.IsUnshared() && lender.IsReadable(bytes, session_.graph().AlignOf(tensor.dtype));
}

void Inputs::EndOnce() {
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    if (std::exchange(inputs_[i].borrowed, false)) inputs_[i].bytes = {};
    SetOrUnset(i, false);
  }
}

}  // namespace wasinn::core
