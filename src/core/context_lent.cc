// The part of a context that computes on inputs which lie in guest memory. They are bound for the time of one compute:
// between two, nothing here or in a framework looks at an address of the guest's.
#include <algorithm>
#include <utility>

#include "core/context_internal.h"
#include "core/words.h"

namespace wasinn::core {

namespace {

// What a backend asks of an address, and what its elements do.
size_t AlignOf(const wasinn_backend& table, uint32_t dtype) {
  const size_t align = table.bind_align != 0 ? table.bind_align : WASINN_TENSOR_ALIGNMENT;
  return std::max(align, DtypeSize(dtype));
}

}  // namespace

class Context::Loan {
 public:
  explicit Loan(Context& context) : context_(context) {}
  ~Loan() {
    for (uint32_t i = 0; i < context_.inputs_.size(); ++i) {
      if (context_.inputs_[i].lent != nullptr) context_.Unbind(i);
    }
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

 private:
  Context& context_;
};

// What is checked of an input's bytes is checked in a copy, so the guest cannot change it afterwards: bools. Opaque
// inputs are read by the backend itself, which may look at them more than once.
bool Context::CanLend(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes,
                      const GuestMemory& lender) const {
  if (bytes.empty() || tensor.dtype == WASINN_BOOL) return false;
  if ((graph_->inputs()[index]->flags & WASINN_IO_OPAQUE) != 0) return false;
  return lender.IsKnownAndUnshared() && lender.IsReadable(bytes, AlignOf(table(), tensor.dtype));
}

// Bound once at once, so that what the framework has to say about it is said now, and not by compute.
Status Context::Lend(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes,
                     const GuestMemory& lender) {
  Input& input = inputs_[index];
  if (input.lent == nullptr) {
    LetGo(index);
    if (Status status = input.charge.Resize(sizeof(LentInput)); !status.ok()) return status;
    input.lent = std::make_unique<LentInput>();
    ++n_lent_;
  }
  EndGeneration();
  input.set = false;
  const wasinn_tensor view = ViewOf(tensor, bytes);
  if (Status status = graph_->backend().Take(table().bind_input(context_, index, &view)); !status.ok()) {
    LetGo(index);
    return status;
  }
  Unbind(index);
  *input.lent = {tensor, lender.PlaceOf(bytes)};
  input.set = true;
  return Status();
}

Result<std::span<const uint8_t>> Context::FindLent(uint32_t index, const GuestMemory* memory) const {
  const GuestPlace& place = inputs_[index].lent->place;
  const auto bytes = memory == nullptr ? std::nullopt : memory->At(place);
  if (bytes) return *bytes;
  return Fail(WASINN_INVALID_ARGUMENT,
              "input '{}' was set by reference to {} bytes at {:#x}, which the memory of this call does not have: it "
              "must be the one of set_input, and as large",
              graph_->inputs()[index]->name, place.size, place.offset);
}

Status Context::BorrowInput(uint32_t index, const GuestMemory* memory) {
  const Result<std::span<const uint8_t>> bytes = FindLent(index, memory);
  if (!bytes) return Status(bytes.error().code(), std::string(bytes.error().message()));
  Input& input = inputs_[index];
  const TensorDesc& tensor = input.lent->tensor;
  if (memory->IsReadable(*bytes, AlignOf(table(), tensor.dtype))) {
    const wasinn_tensor view = ViewOf(tensor, *bytes);
    return graph_->backend().Take(table().bind_input(context_, index, &view));
  }
  // The memory lies elsewhere by now, where it cannot be read in place.
  if (Status status = input.charge.Resize(sizeof(LentInput) + bytes->size()); !status.ok()) return status;
  return CopyIn(index, tensor, *bytes);
}

Status Context::ExecuteOnLoan(const GuestMemory* memory) {
  if (Status status = CheckInputsSet(); !status.ok()) return status;
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].lent == nullptr) continue;
    if (const auto found = FindLent(i, memory); !found) {
      return Status(found.error().code(), std::string(found.error().message()));
    }
  }
  EndGeneration();
  const Loan loan(*this);
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].lent == nullptr) continue;
    if (Status status = BorrowInput(i, memory); !status.ok()) return status;
  }
  Status status = Execute();
  if (!LeavesOutputs(status)) return status;
  if (Status kept = KeepOutputsFrom(*memory); !kept.ok()) {
    DiscardOutputs();
    return kept;
  }
  return status;
}

// A framework may hand an input on as an output, which is read when the guest's memory may be gone.
Status Context::KeepOutputsFrom(const GuestMemory& lender) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < outputs().size(); ++i) {
    if (IsUnservable(*outputs()[i]) || !IsWanted(i)) continue;
    wasinn_tensor view{};
    if (const Status status = View(i, view); !status.ok() || view.bytes == 0 || !lender.Contains(view.data)) continue;
    total += view.bytes - std::min<uint64_t>(view.bytes, FixedSize(i));
    // What the last outputs took is free, and what these take beside is charged when all are counted.
    if (Status status = dynamic_outputs_.Resize(total); !status.ok()) return status;
    std::vector<uint8_t> own(view.bytes);
    CopyTensorBytes(own, {static_cast<const uint8_t*>(view.data), view.bytes}, counts_.out);
    own_outputs_.push_back({i, std::move(own)});
  }
  return Status();
}

Status Context::CopyLent(const GuestMemory* memory) {
  for (uint32_t i = 0; n_lent_ > 0 && i < inputs_.size(); ++i) {
    if (inputs_[i].lent == nullptr) continue;
    const Result<std::span<const uint8_t>> bytes = FindLent(i, memory);
    if (!bytes) return Status(bytes.error().code(), std::string(bytes.error().message()));
    const TensorDesc tensor = inputs_[i].lent->tensor;
    if (Status status = Fill(i, tensor, *bytes); !status.ok()) return status;
  }
  return Status();
}

}  // namespace wasinn::core
