#include "core/pipeline/pipeline_graph.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/json.h"

namespace wasinn::pipeline {
namespace {

using core::Error;
using core::ModelSource;
using core::Result;

std::string Describe(const Plan& plan, const std::vector<Plan::Port>& ports) {
  std::string json;
  for (const Plan::Port& port : ports) {
    json += fmt::format("{}{}:{}", json.empty() ? "" : ",", base::Quoted(port.name),
                        base::Quoted(plan.tensors[port.tensor].name));
  }
  return json;
}

// Lists the tensors that stay on a device.
std::string DescribeKept(const Plan& plan, const Plan::Step& step) {
  if (step.kept.empty()) return "";
  std::string names;
  for (const Plan::Port& port : step.outputs) {
    if (!std::ranges::binary_search(step.kept, port.index)) continue;
    names += (names.empty() ? "" : ",") + base::Quoted(plan.tensors[port.tensor].name);
  }
  return fmt::format(R"(,"kept":[{}],"memory":{})", names, base::Quoted(step.graph->memory()));
}

bool IsStateful(const Plan& plan) {
  return std::ranges::any_of(plan.steps, [](const Plan::Step& step) { return step.graph->is_stateful(); });
}

std::string Describe(const Plan& plan) {
  std::string json;
  for (const Plan::Step& step : plan.steps) {
    json +=
        fmt::format(R"({}{{"model_name":{},"backend":{},"input_map":{{{}}},"output_map":{{{}}}{}}})",
                    json.empty() ? "" : ",", base::Quoted(step.model_name), base::Quoted(step.graph->backend_name()),
                    Describe(plan, step.inputs), Describe(plan, step.outputs), DescribeKept(plan, step));
  }
  return fmt::format(R"({{"step":[{}],"stateful":{}}})", json, IsStateful(plan));
}

}  // namespace

PipelineGraph::PipelineGraph(Plan plan, std::shared_ptr<core::ModelMetrics> metrics)
    : Graph({.encoding = kEncoding}), plan_(std::move(plan)), description_(Describe(plan_)) {
  ios_.reserve(plan_.tensors.size());
  for (const Io& tensor : plan_.tensors) ios_.push_back(tensor.ToC());
  for (const uint32_t id : plan_.inputs) inputs_.push_back(&ios_[id]);
  for (const uint32_t id : plan_.outputs) outputs_.push_back(&ios_[id]);
  SetInfo({.struct_size = sizeof(wasinn_info),
           .n_inputs = static_cast<uint32_t>(inputs_.size()),
           .n_outputs = static_cast<uint32_t>(outputs_.size()),
           .inputs = inputs_.data(),
           .outputs = outputs_.data(),
           .max_parallel = UINT32_MAX,  // each step takes its own turn
           .flags = IsStateful(plan_) ? uint32_t{WASINN_GRAPH_STATEFUL} : 0,
           .memory = nullptr},
          0, std::move(metrics));
}

bool PipelineGraph::lost() const {
  return std::ranges::any_of(plan_.steps, [](const Plan::Step& step) { return step.graph->lost(); });
}

// ---- Nesting

namespace {

class Nesting {
 public:
  explicit Nesting(const FindSource& find) : find_(find) {}

  // The depth of nested pipelines at a source, including itself.
  Result<size_t> HeightOf(const ModelSource& source) {
    path_.push_back(&source);
    size_t height = 1;
    for (const StepSpec& step : source.pipeline.steps) {
      ASSIGN_OR_RETURN(size_t below, HeightOfStep(step));
      height = std::max(height, 1 + below);
    }
    path_.pop_back();
    heights_.emplace(KeyOf(source), height);
    return height;
  }

 private:
  using Key = std::pair<std::string, uint32_t>;
  static Key KeyOf(const ModelSource& source) { return {source.name, source.version}; }

  Result<size_t> HeightOfStep(const StepSpec& step) {
    const std::shared_ptr<const ModelSource> source = find_(step.model_name);
    if (source == nullptr || source->pipeline.empty()) return 0;  // the load reports a missing model
    const auto is_it = [&](const ModelSource* one) { return KeyOf(*one) == KeyOf(*source); };
    if (std::ranges::any_of(path_, is_it)) {
      return std::unexpected(Error(WASINN_ERROR_INVALID_ARGUMENT, "it is a step of itself: {}", Listed(source->name)));
    }
    const auto known = heights_.find(KeyOf(*source));
    if (path_.size() + (known == heights_.end() ? 1 : known->second) > kDeepest) {
      return std::unexpected(Error(WASINN_ERROR_INVALID_ARGUMENT, "more than {} pipelines within each other: {}",
                                   kDeepest, Listed(source->name)));
    }
    return known == heights_.end() ? HeightOf(*source) : known->second;
  }

  std::string Listed(const std::string& last) const {
    std::string list;
    for (const ModelSource* source : path_) list += fmt::format("'{}' -> ", source->name);
    return fmt::format("{}'{}'", list, last);
  }

  const FindSource& find_;
  std::vector<const ModelSource*> path_;  // whose steps are checked now, from the loaded one on
  std::map<Key, size_t> heights_;         // of pipelines that are finite
};

}  // namespace

core::Status CheckNesting(const ModelSource& source, const FindSource& find) {
  Result<size_t> height = Nesting(find).HeightOf(source);
  return height ? core::Status() : std::move(height.error());
}

}  // namespace wasinn::pipeline
