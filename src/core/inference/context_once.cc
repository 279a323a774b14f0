// A call that brings all of its inputs and takes its outputs at once, without a copy if the framework can compute in
// the guest's memory: nothing else happens to that memory before the call returns.
#include <algorithm>
#include <utility>

#include "base/scope_exit.h"
#include "core/inference/context.h"
#include "core/inference/ios.h"

namespace wasinn::core {
namespace {

// Longer lists are not compared, and copied.
constexpr size_t kMaxCompared = 16;

bool Overlap(std::span<const uint8_t> a, std::span<const uint8_t> b) {
  return a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
}

bool IsApart(size_t which, std::span<const OnceOutput> outputs, std::span<const OnceInput> inputs) {
  const std::span<const uint8_t> buffer = outputs[which].buffer;
  if (outputs.size() + inputs.size() > kMaxCompared) return false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (i != which && Overlap(buffer, outputs[i].buffer)) return false;
  }
  return std::ranges::none_of(inputs, [&](const OnceInput& input) { return Overlap(buffer, input.bytes); });
}

uint64_t FixedBytes(const wasinn_io& io) { return IsStatic(io) ? StaticSize(io).value_or(0) : 0; }

}  // namespace

Status Context::ComputeOnce(std::span<OnceInput> inputs, std::span<OnceOutput> outputs, const GuestMemory& memory) {
  CountOne(counts_.computes);
  return meter_.Measure([&] { return ComputeOnceNow(inputs, outputs, memory); });
}

Status Context::ComputeOnceNow(std::span<OnceInput> inputs, std::span<OnceOutput> outputs, const GuestMemory& memory) {
  session_->EndGeneration();
  session_->HideOutputs();
  const base::ScopeExit forget([this] {  // all of the guest's memory
    session_->Discard();
    staged().EndOnce();
  });
  ScratchMemory scratch;
  std::pmr::vector<void*> destinations(&scratch.resource);
  {
    const Meter::Timing timing(meter_, Stage::kInput);
    RETURN_IF_ERROR(staged().SetOnce(inputs, memory));
    destinations.resize(graph_->outputs().size());
    RETURN_IF_ERROR(CheckOnceOutputs(outputs, destinations));
    bool in_place = false;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!CanWriteInPlace(outputs[i], memory) || !IsApart(i, outputs, inputs)) continue;
      destinations[outputs[i].index] = outputs[i].buffer.data();
      in_place = true;
    }
    if (!in_place) destinations.clear();  // so that the request equals the last one
    SelectOnce(outputs);
  }
  InferenceRequest request = Request();
  request.wanted = wanted_once_.indices();
  request.destinations = destinations;
  Status status = Execute(request);
  if (!LeavesOutputs(status)) return status;
  const Meter::Timing timing(meter_, Stage::kOutput);
  Status given = GiveOnce(outputs, destinations);
  return given.ok() ? std::move(status) : std::move(given);
}

// Buffers that are known to be too small are reported before a compute, with the sizes of all outputs. `marks`: one for
// each output of the model, NULL before and after.
Status Context::CheckOnceOutputs(std::span<OnceOutput> outputs, std::span<void*> marks) const {
  Status too_large;
  for (OnceOutput& output : outputs) {
    if (output.by_name) continue;
    RETURN_IF_ERROR(CheckWantable(output.index));
    if (output.index >= marks.size()) continue;
    const wasinn_io& io = *graph_->outputs()[output.index];
    if (std::exchange(marks[output.index], &output) != nullptr) {
      return Error(WASINN_ERROR_INVALID_ARGUMENT, "output '{}' is wanted twice", io.name);
    }
    output.size = FixedBytes(io);
    if (output.size <= output.buffer.size() || !too_large.ok()) continue;
    too_large = Error(WASINN_ERROR_TOO_LARGE, "output '{}' has {} bytes, the buffer {}", io.name, output.size,
                      output.buffer.size());
  }
  std::ranges::fill(marks, nullptr);
  return too_large;
}

void Context::SelectOnce(std::span<const OnceOutput> outputs) {
  const auto is_by_name = [](const OnceOutput& output) { return output.by_name; };
  const bool all = std::ranges::any_of(outputs, is_by_name) || outputs.size() == graph_->outputs().size();
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

bool Context::CanWriteInPlace(const OnceOutput& output, const GuestMemory& memory) const {
  if (output.by_name || output.index >= graph_->outputs().size()) return false;
  const wasinn_io& io = *graph_->outputs()[output.index];
  if ((io.flags & WASINN_IO_BINDABLE) == 0 || output.size < kWorthBinding || !memory.IsUnshared()) return false;
  return memory.IsReadable(output.buffer.first(output.size), graph_->AlignOf(io.dtype));
}

// Copies the outputs that the framework has not written to the guest's memory itself.
Status Context::GiveOnce(std::span<OnceOutput> outputs, std::span<void* const> destinations) {
  Status first;
  for (OnceOutput& output : outputs) {
    if (output.by_name) {
      ASSIGN_OR_RETURN(output.index, FindOutput(output.name));
    }
    RETURN_IF_ERROR(CheckOutput(output.index, wanted_once_));
    const wasinn_tensor* view = nullptr;
    RETURN_IF_ERROR(View(output.index, view));
    const void* const destination = output.index < destinations.size() ? destinations[output.index] : nullptr;
    if (destination != nullptr && view->data == destination) continue;
    Status status = CopyOut(*session_->outputs()[output.index], *view, output.buffer, output.size, count_out_);
    if (!status.ok() && first.ok()) first = std::move(status);
  }
  return first;
}

}  // namespace wasinn::core
