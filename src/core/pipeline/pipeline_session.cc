// A session of a pipeline: a context for each step, and the tensors between them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/on_cancel.h"
#include "base/scope_exit.h"
#include "core/inference/context.h"
#include "core/inference/session.h"
#include "core/pipeline/pipeline_graph.h"

namespace wasinn::pipeline {

class PipelineSession final : public core::ComposedSession {
 public:
  static core::Result<std::unique_ptr<core::Session>> Make(std::shared_ptr<const core::Graph> self,
                                                           const PipelineGraph& graph,
                                                           const wasinn_slot_options& options,
                                                           const core::Resources& resources);

  void Cancel() override { stop_.store(true, std::memory_order_release); }

 private:
  PipelineSession(std::shared_ptr<const core::Graph> self, const PipelineGraph& graph, const core::Resources& resources)
      : ComposedSession(std::move(self), resources), plan_(graph.plan()), tensors_(plan_.tensors.size()) {}
  core::Status RunNow(const core::InferenceRequest& request) override;
  core::Status MakeContexts(const wasinn_slot_options& options);
  core::Status RunSteps(const core::InferenceRequest& request);
  core::Status RunStep(size_t index);
  core::Status StoppedAt(size_t index) const;
  bool stopped() const { return stop_.load(std::memory_order_acquire); }
  core::Status Keep(const Plan::Step& step, std::span<const core::Context::TensorOutput> computed);

  const Plan& plan_;
  std::atomic<bool> stop_{false};  // ends the creation of a context or the compute of a step, whichever runs
  std::vector<std::unique_ptr<core::Context>> contexts_;
  std::vector<core::TensorPtr> tensors_;  // values for Plan::tensors during a run
};

namespace {

using core::Status;
using core::TensorPtr;

Status OfStep(const Plan::Step& step, size_t index, const Status& status) {
  const std::string_view backend = status.backend();
  return Status(status.code(),
                fmt::format("{}: {}{}{}", NameOfStep(index, step.model_name), backend, backend.empty() ? "" : ": ",
                            status.message()),
                kEncoding);
}

}  // namespace

core::Result<std::unique_ptr<core::Session>> PipelineSession::Make(std::shared_ptr<const core::Graph> self,
                                                                   const PipelineGraph& graph,
                                                                   const wasinn_slot_options& options,
                                                                   const core::Resources& resources) {
  std::unique_ptr<PipelineSession> session(new PipelineSession(std::move(self), graph, resources));
  {
    const base::OnCancel registration(options, [&session] { session->Cancel(); });
    RETURN_IF_ERROR(session->MakeContexts(options));
  }
  session->stop_.store(false, std::memory_order_release);  // a cancel that came too late
  return session;
}

Status PipelineSession::MakeContexts(const wasinn_slot_options& options) {
  const core::Context::Options of_steps{.max_compute_bytes = options.max_bytes, .stop = &stop_};
  const std::vector<Plan::Step>& steps = plan_.steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    auto context = core::Context::Create(steps[i].graph, of_steps, resources_);
    if (!context) return OfStep(steps[i], i, context.error());
    contexts_.push_back(std::move(*context));
    if (!steps[i].kept.empty()) contexts_.back()->KeepOutputs(steps[i].kept);
    if (steps[i].graph->has_dynamic_outputs() || steps[i].outputs.size() == steps[i].graph->outputs().size()) continue;
    std::vector<uint32_t> wanted;
    for (const Plan::Port& output : steps[i].outputs) wanted.push_back(output.index);
    if (Status status = contexts_.back()->SelectOutputs(wanted); !status.ok()) return OfStep(steps[i], i, status);
  }
  return Status();
}

Status PipelineSession::RunNow(const core::InferenceRequest& request) {
  stop_.store(false, std::memory_order_release);  // a cancel of the last run, perhaps after its end
  // In any case, because some tensors borrow bytes of this request.
  const base::ScopeExit clear([this] { std::ranges::fill(tensors_, nullptr); });
  for (uint32_t i = 0; i < request.inputs.size(); ++i) {
    if (request.inputs[i].set) tensors_[plan_.inputs[i]] = core::Borrowed(request.inputs[i]);
  }
  Status status = RunSteps(request);
  for (uint32_t i = 0; status.ok() && i < plan_.outputs.size(); ++i) {
    const bool is_wanted = request.wanted.empty() || std::ranges::binary_search(request.wanted, i);
    results_.push_back(is_wanted ? tensors_[plan_.outputs[i]] : nullptr);
  }
  return status;
}

// The code that stopped it reports why; only the progress is known here.
Status PipelineSession::StoppedAt(size_t index) const {
  return core::Error(WASINN_ERROR_TIMEOUT, "it had reached {}", NameOfStep(index, plan_.steps[index].model_name));
}

Status PipelineSession::RunSteps(const core::InferenceRequest& request) {
  using Clock = std::chrono::steady_clock;
  const std::vector<Plan::Step>& steps = plan_.steps;
  const std::chrono::milliseconds deadline = request.time_left;
  const Clock::time_point end = deadline.count() == 0 ? Clock::time_point() : Clock::now() + deadline;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (stopped()) return StoppedAt(i);
    core::Context::Terms terms{.max_bytes = request.max_bytes, .at_turn = i == 0 ? request.at_turn : nullptr};
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

Status PipelineSession::RunStep(size_t index) {
  const Plan::Step& step = plan_.steps[index];
  core::ScratchMemory scratch;
  std::pmr::vector<core::Context::TensorInput> given(&scratch.resource);
  given.reserve(step.inputs.size());
  for (const Plan::Port& input : step.inputs) {
    if (tensors_[input.tensor] != nullptr) given.push_back({input.index, tensors_[input.tensor]});
  }
  std::pmr::vector<core::Context::TensorOutput> computed(&scratch.resource);
  ASSIGN_OR_RETURN(auto names, contexts_[index]->Run(given, computed));
  return Keep(step, computed);
}

Status PipelineSession::Keep(const Plan::Step& step, std::span<const core::Context::TensorOutput> computed) {
  for (const Plan::Port& output : step.outputs) {
    const auto found = output.index == Plan::kLate
                           ? std::ranges::find(computed, output.name, &core::Context::TensorOutput::name)
                           : computed.begin() + output.index;
    if (found == computed.end() || found->tensor == nullptr) {
      return core::Error(WASINN_ERROR_RUNTIME, "it made no output '{}' that can be passed on", output.name);
    }
    tensors_[output.tensor] = found->tensor;
  }
  return Status();
}

core::Result<std::unique_ptr<core::Session>> PipelineGraph::NewSession(std::shared_ptr<const core::Graph> self,
                                                                       const wasinn_slot_options& options,
                                                                       uint32_t /*most*/,
                                                                       const core::Resources& resources) const {
  return PipelineSession::Make(std::move(self), *this, options, resources);
}

}  // namespace wasinn::pipeline
