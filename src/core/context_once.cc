// A call that brings all of its inputs and takes its outputs at once, with no copy where the framework can compute in the
// guest's memory: nothing else happens to that memory before the call returns.
#include <algorithm>
#include <utility>

#include "core/context.h"
#include "core/ios.h"

namespace wasinn::core {

namespace {

// A copy of fewer bytes takes less time than telling a framework where they are.
constexpr size_t kWorthLending = 4096;
// Of more nobody looks whether they overlap.
constexpr size_t kMostLending = 16;

bool Overlap(std::span<const uint8_t> a, std::span<const uint8_t> b) {
  return a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
}

bool IsApart(size_t which, std::span<const OnceOutput> outputs, std::span<const OnceInput> inputs) {
  const std::span<const uint8_t> buffer = outputs[which].buffer;
  if (outputs.size() + inputs.size() > kMostLending) return false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (i != which && Overlap(buffer, outputs[i].buffer)) return false;
  }
  return std::ranges::none_of(inputs, [&](const OnceInput& input) { return Overlap(buffer, input.bytes); });
}

}  // namespace

// ---- Inputs

Status ContextInputs::SetOnce(std::span<OnceInput> given, const GuestMemory& memory) {
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].set) LetGo(i);
  }
  for (OnceInput& one : given) {
    if (Status status = SetOneOnce(one, memory); !status.ok()) return status;
  }
  return Status();
}

Status ContextInputs::SetOneOnce(OnceInput& given, const GuestMemory& memory) {
  const uint32_t index = given.index;
  if (index >= inputs_.size()) return NoSuchIndex("input", index, inputs_.size());
  Input& input = inputs_[index];
  if (input.set) return Error(WASINN_INVALID_ARGUMENT, "input '{}' is given twice", io(index).name);
  const bool worth_lending = given.bytes.size() >= kWorthLending;
  if (!worth_lending && input.in_slot == InSlot::kLeft && HasPlaceFor(input, given.tensor, given.bytes.size())) {
    CopyTensorBytes({input.own->data, given.bytes.size()}, given.bytes, count_);
    input.in_slot = InSlot::kIt;
    input.set = true;
    return Status();
  }
  if (IsUnservable(io(index))) return Unservable("input", io(index), slot_.table().name);
  Result<TensorDesc> tensor = Match(index, given.tensor, given.bytes.size());
  if (!tensor) return std::move(tensor.error());
  if (!worth_lending || !CanReadInPlace(index, *tensor, given.bytes, memory)) {
    return Fill(index, *tensor, given.bytes);
  }
  LetGo(index);
  given.tensor = *tensor;
  input.once = &given;
  input.set = true;
  ++n_lent_;
  return Status();
}

void ContextInputs::EndOnce() {
  for (Input& input : inputs_) {
    if (std::exchange(input.once, nullptr) != nullptr) --n_lent_;
    input.set = false;
    if (input.in_slot != InSlot::kIt) continue;
    input.in_slot = InSlot::kLeft;
    any_left_ = true;
  }
}

// ---- Outputs

Status ContextOutputs::BeginOnce(std::span<OnceOutput> outputs, std::span<const OnceInput> inputs,
                                 const GuestMemory& memory) {
  if (Status status = CheckOnce(outputs); !status.ok()) return status;
  SelectOnce(outputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!CanWriteInPlace(outputs[i], memory) || !IsApart(i, outputs, inputs)) continue;
    outputs_[outputs[i].index].lent = outputs[i].buffer.data();
    bound_ = false;
  }
  return Status();
}

// What is known to be too small is said before anything is computed, with the sizes of all.
Status ContextOutputs::CheckOnce(std::span<OnceOutput> outputs) {
  in_once_ = true;
  Status too_large;
  for (OnceOutput& output : outputs) {
    if (output.by_name) continue;
    if (Status status = CheckWantable(output.index); !status.ok()) return status;
    if (output.index >= outputs_.size()) continue;
    if (std::exchange(outputs_[output.index].once, true)) {
      return Error(WASINN_INVALID_ARGUMENT, "output '{}' is wanted twice", slot_.graph().outputs()[output.index]->name);
    }
    output.size = FixedSize(output.index);
    if (output.size <= output.buffer.size() || !too_large.ok()) continue;
    too_large = Error(WASINN_TOO_LARGE, "output '{}' has {} bytes, the buffer {}",
                      slot_.graph().outputs()[output.index]->name, output.size, output.buffer.size());
  }
  return too_large;
}

void ContextOutputs::SelectOnce(std::span<const OnceOutput> outputs) {
  const auto is_by_name = [](const OnceOutput& output) { return output.by_name; };
  const bool all = std::ranges::any_of(outputs, is_by_name) || outputs.size() == slot_.graph().outputs().size();
  if (all && wanted_once_.all()) return;
  const std::span<const uint32_t> wanted = wanted_once_.indices();
  const auto has = [&](const OnceOutput& output) { return std::ranges::binary_search(wanted, output.index); };
  if (!all && wanted.size() == outputs.size() && std::ranges::all_of(outputs, has)) return;
  std::vector<uint32_t> indices;
  for (const OnceOutput& output : outputs) {
    if (!all) indices.push_back(output.index);
  }
  wanted_once_.Select(indices);
}

bool ContextOutputs::CanWriteInPlace(const OnceOutput& output, const GuestMemory& memory) const {
  if (output.index >= outputs_.size() || !outputs_[output.index].bindable) return false;
  const uint64_t bytes = outputs_[output.index].fixed_bytes;
  if (bytes < kWorthLending || !memory.IsUnshared()) return false;
  const size_t align = AlignOf(slot_.table(), slot_.graph().outputs()[output.index]->dtype);
  return memory.IsReadable(output.buffer.first(bytes), align);
}

Status ContextOutputs::GiveOnce(std::span<OnceOutput> outputs) {
  Status first;
  for (OnceOutput& output : outputs) {
    if (output.by_name) {
      Result<uint32_t> index = Find(output.name);
      if (!index) return std::move(index.error());
      output.index = *index;
    }
    const bool written = output.index < outputs_.size() && outputs_[output.index].lent != nullptr && !elsewhere_;
    Status status = written ? Status() : Get(output.index, output.buffer, output.size);
    if (!status.ok() && status.code() != WASINN_TOO_LARGE) return status;
    if (!status.ok() && first.ok()) first = std::move(status);
  }
  return first;
}

void ContextOutputs::EndOnce() {
  in_once_ = false;
  for (Output& output : outputs_) {
    output.once = false;
    if (std::exchange(output.lent, nullptr) == nullptr) continue;
    bound_ = false;  // the next compute has memory of its own, or what is lent to it
    output.view.struct_size = 0;
  }
}

// ---- The call

// However it ends, nothing of the guest's memory is known afterwards.
class Context::Once {
 public:
  explicit Once(Context& context) : context_(context) {
    context_.state_.EndGeneration();
    context_.state_.Clear();
  }
  ~Once() {
    context_.state_.Clear();
    context_.outputs_.EndOnce();
    context_.inputs_.EndOnce();
  }
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;

 private:
  Context& context_;
};

Status Context::ComputeOnce(std::span<OnceInput> inputs, std::span<OnceOutput> outputs, const GuestMemory& memory) {
  CountOne(counts_.computes);
  return meter_.Measure([&] { return ComputeOnceNow(inputs, outputs, memory); });
}

Status Context::BeginOnce(std::span<OnceInput> inputs, std::span<OnceOutput> outputs, const GuestMemory& memory) {
  const Meter::Timing timing(meter_, Stage::kInput);
  if (Status status = inputs_.SetOnce(inputs, memory); !status.ok()) return status;
  return outputs_.BeginOnce(outputs, inputs, memory);
}

Status Context::ComputeOnceNow(std::span<OnceInput> inputs, std::span<OnceOutput> outputs, const GuestMemory& memory) {
  const Once once(*this);
  if (Status status = BeginOnce(inputs, outputs, memory); !status.ok()) return status;
  Status status = Execute(&memory);
  if (LeavesOutputs(status)) {
    Status given = CountOutputs();
    if (given.ok()) {
      const Meter::Timing timing(meter_, Stage::kOutput);
      state_.SetComputed();
      given = outputs_.GiveOnce(outputs);
    }
    if (!given.ok()) status = std::move(given);
  }
  outputs_.Discard();
  return status;
}

}  // namespace wasinn::core
