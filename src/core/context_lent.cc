// The inputs of a context that lie in guest memory.
#include <algorithm>
#include <utility>

#include "core/context_inputs.h"
#include "core/ios.h"
#include "core/words.h"

namespace wasinn::core {

// What is checked of an input's bytes is checked in a copy, so the guest cannot change it afterwards: bools. Opaque
// inputs are read by the backend itself, which may look at them more than once.
bool ContextInputs::CanReadInPlace(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes,
                                   const GuestMemory& lender) const {
  if (bytes.empty() || tensor.dtype == WASINN_BOOL) return false;
  if ((io(index).flags & WASINN_IO_OPAQUE) != 0) return false;
  return lender.IsUnshared() && lender.IsReadable(bytes, AlignOf(slot_.table(), tensor.dtype));
}

// Bound once at once, so that what the framework has to say about it is said now, and not by compute.
Status ContextInputs::Lend(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes,
                           const GuestMemory& lender) {
  Input& input = inputs_[index];
  if (input.lent == nullptr) {
    LetGo(index);
    if (Status status = input.charge.Resize(sizeof(Lent)); !status.ok()) return status;
    input.lent = std::make_unique<Lent>();
    ++n_lent_;
  }
  state_.EndGeneration();
  input.set = false;
  if (Status status = BindView(index, tensor, bytes); !status.ok()) {
    LetGo(index);
    return status;
  }
  Unbind(index);
  *input.lent = {tensor, lender.PlaceOf(bytes)};
  input.set = true;
  return Status();
}

Result<std::span<const uint8_t>> ContextInputs::FindLent(uint32_t index, const GuestMemory* memory) const {
  const GuestPlace& place = inputs_[index].lent->place;
  const auto bytes = memory == nullptr ? std::nullopt : memory->At(place);
  if (bytes) return *bytes;
  return Fail(WASINN_INVALID_ARGUMENT,
              "input '{}' was set by reference to {} bytes at {:#x}, which the memory of this call does not have: it "
              "must be the one of set_input, and as large",
              io(index).name, place.size, place.offset);
}

Status ContextInputs::CheckLent(const GuestMemory* memory) const {
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].lent == nullptr) continue;
    if (auto found = FindLent(i, memory); !found) return std::move(found.error());
  }
  return Status();
}

Status ContextInputs::BindLent(uint32_t index, const GuestMemory* memory) {
  Result<std::span<const uint8_t>> bytes = FindLent(index, memory);
  if (!bytes) return std::move(bytes.error());
  Input& input = inputs_[index];
  const TensorDesc& tensor = input.lent->tensor;
  if (memory->IsReadable(*bytes, AlignOf(slot_.table(), tensor.dtype))) return BindView(index, tensor, *bytes);
  // The memory lies elsewhere by now, where it cannot be read in place.
  if (Status status = input.charge.Resize(sizeof(Lent) + bytes->size()); !status.ok()) return status;
  return CopyIn(index, tensor, *bytes);
}

void ContextInputs::UnbindLent() {
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].lent != nullptr || inputs_[i].once != nullptr) Unbind(i);
  }
}

void ContextInputs::EndLoan(Input& input) {
  if (std::exchange(input.lent, nullptr) != nullptr) --n_lent_;
}

Status ContextInputs::CopyLent(const GuestMemory* memory) {
  for (uint32_t i = 0; n_lent_ > 0 && i < inputs_.size(); ++i) {
    if (inputs_[i].lent == nullptr) continue;
    Result<std::span<const uint8_t>> bytes = FindLent(i, memory);
    if (!bytes) return std::move(bytes.error());
    const TensorDesc tensor = inputs_[i].lent->tensor;
    if (Status status = Fill(i, tensor, *bytes); !status.ok()) return status;
  }
  return Status();
}

}  // namespace wasinn::core
