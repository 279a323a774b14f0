// The part of a host that loads models over other models: pipelines, and models with batches.
#include <utility>
#include <vector>

#include "core/batching/batched_graph.h"
#include "core/host/host.h"
#include "core/pipeline/pipeline_graph.h"

namespace wasinn::core {
namespace {

const char* KeyThatDoesNotFit(const ModelOptions& options) {
  if (!options.path.empty()) return "path";
  if (!options.parts.empty()) return "bytes";
  if (!options.encoding.empty()) return "encoding";
  if (!options.backend.empty()) return "backend";
  if (options.target != WASINN_TARGET_CPU) return "target";
  if (options.config != "{}") return "config";
  if (options.immutable) return "immutable";
  return options.isolate.has_value() ? "isolate" : nullptr;
}

}  // namespace

Status Host::AddPipeline(const ModelOptions& options) {
  if (const char* key = KeyThatDoesNotFit(options)) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT,
                 "model '{}': it has steps, so it has no '{}': that is for the models of its steps", options.name, key);
  }
  ModelSource source = SourceOf(options);
  source.encoding = pipeline::kEncoding;
  source.workers = nullptr;
  return Register(std::move(source));
}

Result<std::shared_ptr<Graph>> Host::LoadPipeline(const ModelSource& source, const WaitOptions& wait) {
  const auto find = [this](const std::string& name) -> std::shared_ptr<const ModelSource> {
    const Result<std::shared_ptr<Model>> model = models_.Find(name);
    return model ? std::shared_ptr<const ModelSource>(*model, &(*model)->source()) : nullptr;
  };
  RETURN_IF_ERROR(pipeline::CheckNesting(source, find));
  std::vector<std::shared_ptr<Graph>> graphs;
  for (const pipeline::StepSpec& step : source.pipeline.steps) {
    ASSIGN_OR_RETURN(auto graph,
                     At(pipeline::NameOfStep(graphs.size(), step.model_name), LoadNamed(step.model_name, wait)));
    graphs.push_back(std::move(graph));
  }
  ASSIGN_OR_RETURN(pipeline::Plan plan, pipeline::MakePlan(source.pipeline, graphs));
  return std::make_shared<pipeline::PipelineGraph>(std::move(plan), source.metrics);
}

// Its computes count for guests, and not again for the batches.
Result<std::shared_ptr<Graph>> Host::LoadBatched(const ModelSource& source, const WaitOptions& wait) {
  ModelSource inner = source;
  inner.metrics = nullptr;
  ASSIGN_OR_RETURN(std::shared_ptr<Graph> graph, LoadSource(inner, OfHost(), wait));
  return BatchedGraph::Over(std::move(graph), source.batching, fmt::format("{}:{}", source.name, source.version),
                            {.encoding = source.encoding, .target = source.target, .metrics = source.metrics},
                            {.pool = *buffers_,
                             .watchdog = watchdog_,
                             .scheduler = scheduler_,
                             .logger = logger_,
                             .threads = backends_.threads(),
                             .metrics = metrics_,
                             .open_deadline = LoadDeadline()});
}

}  // namespace wasinn::core
