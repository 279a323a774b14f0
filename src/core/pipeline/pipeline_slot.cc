#include "core/pipeline/pipeline_slot.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "core/scratch_memory.h"

namespace wasinn::pipeline {
namespace {

using core::Status;
using core::TensorPtr;

Status OfStep(const Plan::Step& step, size_t index, const Status& status) {
  const std::string_view backend = status.backend();
  return Status(status.code(), fmt::format("{}: {}{}{}", NameOfStep(index, step.model_name), backend,
                                           backend.empty() ? "" : ": ", status.message()));
}

bool IsSame(const core::SharedTensor& tensor, const wasinn_tensor& other) {
  return tensor.bytes().data() == other.data && tensor.bytes().size() == other.bytes &&
         tensor.desc().dtype == other.dtype &&
         std::ranges::equal(tensor.desc().shape(), std::span(other.dims, other.rank));
}

// Writes what both know.
void Show(const core::SharedTensor& tensor, wasinn_tensor& view) {
  const uint32_t struct_size = view.struct_size;
  view = core::ViewOf(tensor.desc(), tensor.bytes());
  view.struct_size = struct_size;
}

}  // namespace

// A slot that is being made, which its deadline cancels.
class PipelineSlot::Making {
 public:
  Making(const wasinn_slot_options& options, PipelineSlot& slot) : options_(options) {
    const auto cancel = [](void* self) { static_cast<PipelineSlot*>(self)->Cancel(); };
    if (options_.on_cancel != nullptr) options_.on_cancel(options_.token, cancel, &slot);
  }
  ~Making() {
    if (options_.on_cancel != nullptr) options_.on_cancel(options_.token, nullptr, nullptr);
  }
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;

 private:
  const wasinn_slot_options& options_;
};

core::Result<std::unique_ptr<PipelineSlot>> PipelineSlot::Make(const PipelineGraph& graph,
                                                               const wasinn_slot_options& options,
                                                               const core::ContextResources& resources) {
  std::unique_ptr<PipelineSlot> slot(new PipelineSlot(graph));
  {
    const Making making(options, *slot);
    if (Status status = slot->MakeContexts(options, resources); !status.ok()) return std::unexpected(std::move(status));
  }
  slot->stop_.store(false, std::memory_order_release);  // one that came too late
  return slot;
}

Status PipelineSlot::MakeContexts(const wasinn_slot_options& options, const core::ContextResources& resources) {
  const core::Context::Options of_steps{.max_compute_bytes = options.max_bytes, .stop = &stop_};
  const std::vector<Plan::Step>& steps = graph_.plan().steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    auto context = core::Context::Create(steps[i].graph, of_steps, resources);
    if (!context) return OfStep(steps[i], i, context.error());
    contexts_.push_back(std::move(*context));
    if (!steps[i].kept.empty()) contexts_.back()->KeepOutputs(steps[i].kept);
    if (steps[i].graph->has_late_outputs() || steps[i].outputs.size() == steps[i].graph->outputs().size()) continue;
    std::vector<uint32_t> wanted;
    for (const Plan::Port& output : steps[i].outputs) wanted.push_back(output.index);
    if (Status status = contexts_.back()->SelectOutputs(wanted); !status.ok()) return OfStep(steps[i], i, status);
  }
  return Status();
}

// The memory stays its owner's, and the next bind or unbind comes before it goes.
void PipelineSlot::Bind(uint32_t index, const wasinn_tensor& tensor) {
  TensorPtr& place = tensors_[graph_.plan().inputs[index]];
  if (place != nullptr && IsSame(*place, tensor)) return;
  place.reset();
  const auto lent = core::SharedTensor::New();
  wasinn_tensor of_others = tensor;
  of_others.release = nullptr;
  lent->Adopt(nullptr, core::DescOf(tensor), of_others, core::Charge());
  place = lent;
}

void PipelineSlot::Unbind(uint32_t index) { tensors_[graph_.plan().inputs[index]].reset(); }

Status PipelineSlot::Compute(const wasinn_compute_options& options) {
  Discard();
  stop_.store(false, std::memory_order_release);  // of the last one, perhaps when that was over
  Status status = RunSteps(options);
  const std::vector<uint32_t>& outputs = graph_.plan().outputs;
  const std::span<const uint32_t> wanted(options.wanted, options.n_wanted);
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    TensorPtr& tensor = tensors_[outputs[i]];
    if (!wanted.empty() && !std::ranges::binary_search(wanted, i)) tensor.reset();
    // From here on they are what this context holds for its outputs, which is charged as that.
    if (tensor != nullptr) tensor->GiveChargeBack();
  }
  if (!status.ok()) Discard();
  return status;
}

// Whoever stopped it says why; here it is only known how far it had come.
Status PipelineSlot::StoppedAt(size_t index) const {
  return core::Error(WASINN_TIMEOUT, "it had come to {}", NameOfStep(index, graph_.plan().steps[index].model_name));
}

Status PipelineSlot::RunSteps(const wasinn_compute_options& options) {
  using Clock = std::chrono::steady_clock;
  const std::vector<Plan::Step>& steps = graph_.plan().steps;
  const std::chrono::milliseconds deadline(options.deadline_ms);
  const Clock::time_point end = deadline.count() == 0 ? Clock::time_point() : Clock::now() + deadline;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (stopped()) return StoppedAt(i);
    core::Context::Terms terms{.max_bytes = options.max_bytes};
    if (deadline.count() != 0) terms.time_left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    terms.time_left = std::max(terms.time_left, std::min(deadline, std::chrono::milliseconds(1)));
    contexts_[i]->SetTerms(terms);
    if (Status status = RunStep(i); !status.ok()) {
      if (stopped()) return StoppedAt(i);
      return OfStep(steps[i], i, status);
    }
    for (const uint32_t id : steps[i].last) tensors_[id].reset();
  }
  return Status();
}

Status PipelineSlot::RunStep(size_t index) {
  const Plan::Step& step = graph_.plan().steps[index];
  core::ScratchMemory scratch;
  std::pmr::vector<core::Context::Given> given(&scratch.resource);
  given.reserve(step.inputs.size());
  for (const Plan::Port& input : step.inputs) {
    if (tensors_[input.tensor] != nullptr) given.push_back({input.index, tensors_[input.tensor]});
  }
  std::pmr::vector<core::Context::Computed> computed(&scratch.resource);
  auto names = contexts_[index]->Run(given, computed);
  if (!names) return std::move(names.error());
  return Keep(step, computed);
}

Status PipelineSlot::Keep(const Plan::Step& step, std::span<const core::Context::Computed> computed) {
  for (const Plan::Port& output : step.outputs) {
    const auto found = output.index == Plan::kLate
                           ? std::ranges::find(computed, output.name, &core::Context::Computed::name)
                           : computed.begin() + output.index;
    if (found == computed.end() || found->tensor == nullptr) {
      return core::Error(WASINN_RUNTIME_ERROR, "it made no output '{}' that can be passed on", output.name);
    }
    tensors_[output.tensor] = found->tensor;
  }
  return Status();
}

Status PipelineSlot::Output(uint32_t index, wasinn_tensor& view) const {
  if (const TensorPtr& tensor = tensors_[graph_.plan().outputs[index]]) {
    Show(*tensor, view);
    return Status();
  }
  // Of one that nobody wanted nothing is held.
  const wasinn_io& io = *graph_.info().outputs[index];
  view.dtype = io.dtype;
  view.rank = static_cast<uint32_t>(std::max(io.rank, 0));
  view.dims = io.dims;
  view.data = nullptr;
  view.bytes = 0;
  view.owner = nullptr;
  view.release = nullptr;
  return Status();
}

Status PipelineSlot::Take(uint32_t index, wasinn_tensor& out) {
  TensorPtr& tensor = tensors_[graph_.plan().outputs[index]];
  if (tensor == nullptr) return core::Error(WASINN_INVALID_ARGUMENT, "output {} was taken: compute again", index);
  Show(*tensor, out);
  out.owner = new TensorPtr(std::move(tensor));
  out.release = [](void* owner) { delete static_cast<TensorPtr*>(owner); };
  return Status();
}

void PipelineSlot::Discard() {
  for (const uint32_t id : graph_.plan().outputs) tensors_[id].reset();
  for (const Plan::Step& step : graph_.plan().steps) {
    for (const Plan::Port& output : step.outputs) tensors_[output.tensor].reset();
  }
}

}  // namespace wasinn::pipeline
