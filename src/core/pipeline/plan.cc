#include "core/pipeline/plan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

#include "core/inference/ios.h"
#include "core/memory/tensor.h"

namespace wasinn::pipeline {
namespace {

using core::Error;
using core::Graph;
using core::Status;

// An input or output of a step, and its name in the pipeline.
struct Named {
  uint32_t index;
  std::string name, tensor;
};

class Planner {
 public:
  Planner(const Spec& spec, std::span<const std::shared_ptr<Graph>> graphs) : spec_(spec), graphs_(graphs) {}
  core::Result<Plan> Make();

 private:
  Status NameInputs(size_t step);
  Status NameOutputs(size_t step);
  void LinkToNext(size_t step);
  bool IsElsewhere(const std::string& tensor, size_t step) const;
  Status ListMade();
  Status WireInputs(size_t step);
  Status WireInput(size_t step, const Named& input);
  Status AddInput(size_t step, const Named& input, const wasinn_io& io);
  void WireOutputs(size_t step);
  Status ChooseInputs();
  Status ChooseOutputs();
  void FindLastUses();
  bool CanKeep(const core::Graph& maker, const Plan::Port& output) const;
  void KeepOnDevices();

  template <typename... Args>
  Status OfStep(size_t step, fmt::format_string<Args...> format, Args&&... args) const {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "{}: {}", NameOfStep(step, spec_.steps[step].model_name),
                 fmt::format(format, std::forward<Args>(args)...));
  }

  const Spec& spec_;
  const std::span<const std::shared_ptr<Graph>> graphs_;
  std::vector<std::vector<Named>> inputs_, outputs_;  // by step
  std::map<std::string, size_t> made_by_;             // tensor -> step
  std::map<std::string, uint32_t> ids_;               // in Plan::tensors
  Plan plan_;
};

Status Planner::NameInputs(size_t step) {
  const Graph& graph = *graphs_[step];
  const Names& map = spec_.steps[step].input_map;
  std::vector<Named>& named = inputs_.emplace_back();
  if (map.empty()) {
    for (uint32_t i = 0; i < graph.inputs().size(); ++i) {
      named.push_back({i, graph.inputs()[i]->name, graph.inputs()[i]->name});
    }
    return Status();
  }
  for (const auto& [name, tensor] : map) {
    const core::Result<uint32_t> index = graph.FindInput(name);
    if (!index) return OfStep(step, "input_map: {}", index.error().message());
    named.push_back({*index, graph.inputs()[*index]->name, tensor});
  }
  std::ranges::sort(named, {}, &Named::index);
  if (const auto twice = std::ranges::adjacent_find(named, {}, &Named::index); twice != named.end()) {
    return OfStep(step, "input_map has its input '{}' twice", twice->name);
  }
  for (uint32_t i = 0; i < graph.inputs().size(); ++i) {
    const wasinn_io& io = *graph.inputs()[i];
    if ((io.flags & WASINN_IO_OPTIONAL) != 0 || std::ranges::binary_search(named, i, {}, &Named::index)) continue;
    return OfStep(step, "input_map has no '{}', which the model needs", io.name);
  }
  return Status();
}

// If an output_map names some outputs, the others are dropped.
Status Planner::NameOutputs(size_t step) {
  const Graph& graph = *graphs_[step];
  const Names& map = spec_.steps[step].output_map;
  std::vector<Named>& named = outputs_.emplace_back();
  if (graph.has_dynamic_outputs() && map.empty()) {
    return OfStep(step, "its outputs are known only after a compute: it needs an output_map");
  }
  for (const auto& [name, tensor] : map) {
    if (graph.has_dynamic_outputs()) {
      named.push_back({Plan::kLate, name, tensor});
      continue;
    }
    const core::Result<uint32_t> index = graph.FindOutput(name);
    if (!index) return OfStep(step, "output_map: {}", index.error().message());
    const wasinn_io& io = *graph.outputs()[*index];
    if (core::IsUnservable(io)) return OfStep(step, "output_map: {}", core::Unservable("output", io, "").message());
    named.push_back({*index, io.name, tensor});
  }
  if (map.empty()) {
    for (uint32_t i = 0; i < graph.outputs().size(); ++i) {
      const wasinn_io& io = *graph.outputs()[i];
      if (core::IsUnservable(io)) {
        return OfStep(step, "{}: an output_map that does not name it leaves it out",
                      core::Unservable("output", io, "").message());
      }
      named.push_back({i, io.name, io.name});
    }
  }
  std::ranges::stable_sort(named, {}, &Named::index);
  const auto twice = std::ranges::adjacent_find(
      named, [](const Named& a, const Named& b) { return a.index == b.index && a.index != Plan::kLate; });
  if (twice == named.end()) return Status();
  return OfStep(step, "output_map has its output '{}' twice", twice->name);
}

bool Planner::IsElsewhere(const std::string& tensor, size_t step) const {
  for (size_t i = 0; i < spec_.steps.size(); ++i) {
    const auto is_it = [&](const Named& named) { return named.tensor == tensor; };
    if (i != step && std::ranges::any_of(outputs_[i], is_it)) return true;
    if (i <= step && std::ranges::any_of(inputs_[i], is_it)) return true;
  }
  return false;
}

// If a step has only one output, and the next step only one input, their names do not matter: they are linked, by a
// name that no other tensor has.
void Planner::LinkToNext(size_t step) {
  const Graph &from = *graphs_[step], &to = *graphs_[step + 1];
  if (!spec_.steps[step].output_map.empty() || !spec_.steps[step + 1].input_map.empty()) return;
  if (outputs_[step].size() != 1 || from.outputs().size() != 1 || to.inputs().size() != 1) return;
  std::string& tensor = outputs_[step].front().tensor;
  if (IsElsewhere(tensor, step))
    tensor = fmt::format("{} of {}", tensor, NameOfStep(step, spec_.steps[step].model_name));
  inputs_[step + 1].front().tensor = tensor;
}

Status Planner::ListMade() {
  for (size_t step = 0; step < outputs_.size(); ++step) {
    for (const Named& output : outputs_[step]) {
      const auto [other, is_new] = made_by_.emplace(output.tensor, step);
      if (is_new) continue;
      return OfStep(step, "it makes '{}', as {} does: an output_map can give it another name", output.tensor,
                    NameOfStep(other->second, spec_.steps[other->second].model_name));
    }
  }
  return Status();
}

Status Planner::AddInput(size_t step, const Named& input, const wasinn_io& io) {
  if (!spec_.inputs.empty() && std::ranges::find(spec_.inputs, input.tensor) == spec_.inputs.end()) {
    return OfStep(step, "it takes '{}', which no step makes, and which is not among inputs", input.tensor);
  }
  const auto [id, is_new] = ids_.emplace(input.tensor, static_cast<uint32_t>(plan_.tensors.size()));
  if (is_new) {
    plan_.inputs.push_back(id->second);
    plan_.tensors.emplace_back(input.tensor, io);
    return Status();
  }
  Status status = Narrow(plan_.tensors[id->second], io);
  if (!status.ok()) return OfStep(step, "{}", status.message());
  return Status();
}

Status Planner::WireInput(size_t step, const Named& input) {
  const wasinn_io& io = *graphs_[step]->inputs()[input.index];
  const auto made = made_by_.find(input.tensor);
  if (made == made_by_.end()) {
    RETURN_IF_ERROR(AddInput(step, input, io));
  } else if (made->second >= step) {
    return OfStep(step, "it takes '{}', which {} makes: a step comes after those that it takes something from",
                  input.tensor, NameOfStep(made->second, spec_.steps[made->second].model_name));
  } else if (Status status = CheckFits(plan_.tensors[ids_.at(input.tensor)], io); !status.ok()) {
    return OfStep(step, "{}", status.message());
  }
  plan_.steps[step].inputs.push_back({input.index, ids_.at(input.tensor), input.name});
  return Status();
}

Status Planner::WireInputs(size_t step) {
  const std::vector<Named>& inputs = inputs_[step];
  const auto is_known = [&](const Named& input) {
    return ids_.contains(input.tensor) ||  // from an earlier step
           std::ranges::find(spec_.inputs, input.tensor) != spec_.inputs.end();
  };
  const bool is_apart = step > 0 && !inputs.empty() && spec_.steps[step].input_map.empty();
  if (is_apart && std::ranges::none_of(inputs, is_known)) {
    return OfStep(step, "it needs an input_map: no step before it makes or takes '{}'", inputs.front().tensor);
  }
  for (const Named& input : inputs) {
    RETURN_IF_ERROR(WireInput(step, input));
  }
  return Status();
}

void Planner::WireOutputs(size_t step) {
  for (const Named& output : outputs_[step]) {
    const auto id = static_cast<uint32_t>(plan_.tensors.size());
    ids_.emplace(output.tensor, id);
    if (output.index == Plan::kLate) {
      plan_.tensors.emplace_back(output.tensor);
    } else {
      plan_.tensors.emplace_back(output.tensor, *graphs_[step]->outputs()[output.index]);
      plan_.tensors.back().flags = 0;  // its memory belongs to the pipeline
    }
    plan_.steps[step].outputs.push_back({output.index, id, output.name});
  }
}

// In the order of the list.
Status Planner::ChooseInputs() {
  if (spec_.inputs.empty()) return Status();
  std::vector<uint32_t> inputs;
  for (const std::string& name : spec_.inputs) {
    const auto id = ids_.find(name);
    if (id == ids_.end() || std::ranges::find(plan_.inputs, id->second) == plan_.inputs.end()) {
      return Error(WASINN_ERROR_INVALID_ARGUMENT, "inputs: no step takes '{}', or a step makes it", name);
    }
    if (std::ranges::find(inputs, id->second) != inputs.end()) {
      return Error(WASINN_ERROR_INVALID_ARGUMENT, "inputs: '{}' is listed twice", name);
    }
    inputs.push_back(id->second);
  }
  plan_.inputs = std::move(inputs);
  return Status();
}

Status Planner::ChooseOutputs() {
  std::vector<bool> is_taken(plan_.tensors.size());
  for (const Plan::Step& step : plan_.steps) {
    for (const Plan::Port& input : step.inputs) is_taken[input.tensor] = true;
  }
  for (const std::string& name : spec_.outputs) {
    if (!made_by_.contains(name)) {
      return Error(WASINN_ERROR_INVALID_ARGUMENT, "outputs: no step makes '{}': they make '{}'", name,
                   fmt::join(std::views::keys(made_by_), "', '"));
    }
    if (std::ranges::find(plan_.outputs, ids_.at(name)) != plan_.outputs.end()) {
      return Error(WASINN_ERROR_INVALID_ARGUMENT, "outputs: '{}' is listed twice", name);
    }
    plan_.outputs.push_back(ids_.at(name));
  }
  if (!spec_.outputs.empty()) return Status();
  for (const Plan::Step& step : plan_.steps) {
    for (const Plan::Port& output : step.outputs) {
      if (!is_taken[output.tensor]) plan_.outputs.push_back(output.tensor);
    }
  }
  return plan_.outputs.empty() ? Error(WASINN_ERROR_INVALID_ARGUMENT, "no output is left: its steps take them all")
                               : Status();
}

// Inputs from the guest stay as long as they are set.
void Planner::FindLastUses() {
  std::vector<bool> stays(plan_.tensors.size());
  for (const uint32_t id : plan_.inputs) stays[id] = true;
  for (const uint32_t id : plan_.outputs) stays[id] = true;
  for (size_t i = plan_.steps.size(); i-- > 0;) {
    Plan::Step& step = plan_.steps[i];
    for (const std::vector<Plan::Port>* ports : {&step.inputs, &step.outputs}) {
      for (const Plan::Port& port : *ports) {
        if (stays[port.tensor]) continue;
        stays[port.tensor] = true;
        step.last.push_back(port.tensor);
      }
    }
  }
}

// The host must check bools and texts, so they do not stay on a device.
bool Planner::CanKeep(const core::Graph& maker, const Plan::Port& output) const {
  if (maker.memory() == nullptr || output.index == Plan::kLate) return false;
  const wasinn_io& made = *maker.outputs()[output.index];
  if (made.dtype == WASINN_DTYPE_BOOL || made.dtype == WASINN_DTYPE_UNKNOWN || (made.flags & WASINN_IO_ALWAYS) != 0) {
    return false;
  }
  if (std::ranges::find(plan_.outputs, output.tensor) != plan_.outputs.end()) return false;
  for (const Plan::Step& step : plan_.steps) {
    for (const Plan::Port& input : step.inputs) {
      if (input.tensor != output.tensor) continue;
      const bool is_opaque = (step.graph->inputs()[input.index]->flags & WASINN_IO_OPAQUE) != 0;
      if (is_opaque || !step.graph->shares_memory_with(maker)) return false;
    }
  }
  return true;
}

void Planner::KeepOnDevices() {
  for (Plan::Step& step : plan_.steps) {
    for (const Plan::Port& output : step.outputs) {
      if (CanKeep(*step.graph, output)) step.kept.push_back(output.index);
    }
    std::ranges::sort(step.kept);
  }
}

core::Result<Plan> Planner::Make() {
  for (size_t i = 0; i < spec_.steps.size(); ++i) {
    plan_.steps.push_back({spec_.steps[i].model_name, graphs_[i], {}, {}, {}, {}});
    RETURN_IF_ERROR(NameInputs(i));
    RETURN_IF_ERROR(NameOutputs(i));
  }
  for (size_t i = 0; i + 1 < spec_.steps.size(); ++i) LinkToNext(i);
  RETURN_IF_ERROR(ListMade());
  for (size_t i = 0; i < spec_.steps.size(); ++i) {
    RETURN_IF_ERROR(WireInputs(i));
    WireOutputs(i);
  }
  RETURN_IF_ERROR(ChooseInputs());
  RETURN_IF_ERROR(ChooseOutputs());
  FindLastUses();
  KeepOnDevices();
  return std::move(plan_);
}

}  // namespace

std::string NameOfStep(size_t index, const std::string& model_name) {
  return fmt::format("step {} ('{}')", index + 1, model_name);
}

core::Result<Plan> MakePlan(const Spec& spec, std::span<const std::shared_ptr<core::Graph>> graphs) {
  return Planner(spec, graphs).Make();
}

namespace {

core::Status Differ(const Io& io, const wasinn_io& other, const char* what) {
  return core::Error(WASINN_ERROR_INVALID_ARGUMENT, "'{}' is {} there, and its '{}' takes {}{}", io.name,
                     core::Describe(io.ToC()), other.name, core::Describe(other), what);
}

bool ShapesFit(const Io& made, const wasinn_io& taken) {
  if (made.rank < 0 || taken.rank < 0) return true;
  const auto is_one = [](int32_t rank, const int64_t* dims) { return rank == 1 && (dims[0] == 1 || dims[0] < 0); };
  if (taken.rank == 0 && is_one(made.rank, made.dims.data())) return true;
  if (made.rank != taken.rank) return false;
  for (int32_t i = 0; i < made.rank; ++i) {
    if (made.dims[i] >= 0 && taken.dims[i] >= 0 && made.dims[i] != taken.dims[i]) return false;
  }
  return true;
}

}  // namespace

Io::Io(std::string its_name, const wasinn_io& like)
    : name(std::move(its_name)),
      type_name(like.type_name == nullptr ? "" : like.type_name),
      dtype(like.dtype),
      flags(like.flags),
      rank(like.rank) {
  if (rank > 0) dims.assign(like.dims, like.dims + rank);
}

wasinn_io Io::ToC() const {
  return {.struct_size = sizeof(wasinn_io),
          .dtype = dtype,
          .flags = flags,
          .rank = rank,
          .dims = dims.data(),
          .name = name.c_str(),
          .type_name = type_name.empty() ? nullptr : type_name.c_str()};
}

core::Status CheckFits(const Io& made, const wasinn_io& taken) {
  if (core::IsUnservable(taken)) return core::Unservable("input", taken, "");
  const wasinn_io from = made.ToC();
  if (core::IsUnservable(from)) return core::Unservable("output", from, "");
  if ((taken.flags & WASINN_IO_OPAQUE) != 0) {
    if (from.dtype == WASINN_DTYPE_U8 || from.dtype == WASINN_DTYPE_UNKNOWN) return core::Status();
    return Differ(made, taken, "");
  }
  const bool same =
      from.dtype == taken.dtype || from.dtype == WASINN_DTYPE_UNKNOWN || taken.dtype == WASINN_DTYPE_UNKNOWN;
  if (same && ShapesFit(made, taken)) return core::Status();
  return Differ(made, taken, "");
}

core::Status Narrow(Io& io, const wasinn_io& like) {
  const uint32_t both = WASINN_IO_OPAQUE | WASINN_IO_UNSERVABLE | WASINN_IO_STRINGS;
  const bool types_fit =
      io.dtype == like.dtype || io.dtype == WASINN_DTYPE_UNKNOWN || like.dtype == WASINN_DTYPE_UNKNOWN;
  const bool shapes_fit = io.rank < 0 || like.rank < 0 || (io.rank == like.rank && ShapesFit(io, like));
  if (!types_fit || !shapes_fit || (io.flags & both) != (like.flags & both)) {
    return Differ(io, like, ": one tensor cannot be both");
  }
  if (io.dtype == WASINN_DTYPE_UNKNOWN) io.dtype = like.dtype;
  if ((like.flags & WASINN_IO_OPTIONAL) == 0) io.flags &= ~uint32_t{WASINN_IO_OPTIONAL};
  if (io.rank < 0 && like.rank >= 0) {
    io.rank = like.rank;
    io.dims.assign(like.dims, like.dims + like.rank);
  }
  for (int32_t i = 0; i < std::min(io.rank, like.rank); ++i) io.dims[i] = std::max(io.dims[i], like.dims[i]);
  return core::Status();
}

}  // namespace wasinn::pipeline
