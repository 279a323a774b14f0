#include "core/pipeline/pipeline_backend.h"

#include <utility>

#include "core/pipeline/pipeline_graph.h"
#include "core/pipeline/pipeline_slot.h"
#include "core/table_errors.h"

namespace wasinn::pipeline {
namespace {

using core::Caught;
using core::Status;

// The state of a backend: its pipeline.
PipelineGraph& Of(wasinn_backend_state* state) { return *reinterpret_cast<PipelineGraph*>(state); }

wasinn_error* NewSlot(wasinn_backend_graph* graph, const wasinn_slot_options& options,
                      const core::ContextResources& resources, wasinn_backend_slot** out) {
  return Caught([&] {
    auto slot = PipelineSlot::Make(PipelineGraph::Of(graph), options, resources);
    if (!slot) return std::move(slot.error());
    *out = reinterpret_cast<wasinn_backend_slot*>(slot->release());
    return Status();
  });
}

void AddGraphs(wasinn_backend& table) {
  table.close = [](wasinn_backend_state* backend) { delete &Of(backend); };
  table.backend_info = [](wasinn_backend_state*, const wasinn_backend_info** out) -> wasinn_error* {
    static constexpr wasinn_backend_info kInfo = {.struct_size = sizeof(wasinn_backend_info),
                                                  .framework = "wasinn",
                                                  .version = WASINN_VERSION,
                                                  .library = "",
                                                  .devices = ""};
    *out = &kInfo;
    return nullptr;
  };
  table.load = [](wasinn_backend_state* backend, const wasinn_blob* const*, size_t, const wasinn_load_options*,
                  wasinn_backend_graph** out) -> wasinn_error* {
    *out = reinterpret_cast<wasinn_backend_graph*>(backend);
    return nullptr;
  };
  table.unload = [](wasinn_backend_graph*) {};  // with its backend
  table.info = [](wasinn_backend_graph* graph, const wasinn_info** out) -> wasinn_error* {
    *out = &PipelineGraph::Of(graph).info();
    return nullptr;
  };
  table.describe = [](wasinn_backend_graph* graph) { return PipelineGraph::Of(graph).description(); };
}

void AddSlots(wasinn_backend& table) {
  table.slot_free = [](wasinn_backend_slot* slot) { delete &PipelineSlot::Of(slot); };
  table.bind_input = [](wasinn_backend_slot* slot, uint32_t index, const wasinn_tensor* tensor) {
    return Caught([&] { return PipelineSlot::Of(slot).Bind(index, *tensor), Status(); });
  };
  table.unbind_input = [](wasinn_backend_slot* slot, uint32_t index) { PipelineSlot::Of(slot).Unbind(index); };
  table.compute = [](wasinn_backend_slot* slot, const wasinn_compute_options* options, wasinn_compute_result*) {
    return Caught([&] { return PipelineSlot::Of(slot).Compute(*options); });
  };
  table.output = [](wasinn_backend_slot* slot, uint32_t index, wasinn_tensor* view) {
    return Caught([&] { return PipelineSlot::Of(slot).Output(index, *view); });
  };
  table.take_output = [](wasinn_backend_slot* slot, uint32_t index, wasinn_tensor* out) {
    return Caught([&] { return PipelineSlot::Of(slot).Take(index, *out); });
  };
  table.cancel = [](wasinn_backend_slot* slot) { PipelineSlot::Of(slot).Cancel(); };
  table.discard_outputs = [](wasinn_backend_slot* slot) { PipelineSlot::Of(slot).Discard(); };
}

}  // namespace

const wasinn_backend& Table() {
  static const wasinn_backend table = [] {
    wasinn_backend made = {.struct_size = sizeof(wasinn_backend),
                           .abi_major = WASINN_BACKEND_ABI_MAJOR,
                           .abi_minor = WASINN_BACKEND_ABI_MINOR,
                           .name = kEncoding,
                           .version = WASINN_VERSION,
                           .install = ""};
    AddGraphs(made);
    AddSlots(made);
    return made;
  }();
  return table;
}

core::Result<std::shared_ptr<core::Backend>> OpenBackend(Plan plan, const core::Logger& logger) {
  const auto open = [&](const wasinn_host_services&) -> core::Result<wasinn_backend_state*> {
    return reinterpret_cast<wasinn_backend_state*>(new PipelineGraph(std::move(plan)));
  };
  const auto is_lost = [](wasinn_backend_graph* graph) { return PipelineGraph::Of(graph).lost(); };
  return core::Backend::OpenBy(Table(), logger, 1, open,
                               {.abandon = nullptr, .is_lost = is_lost, .new_slot = &NewSlot});
}

}  // namespace wasinn::pipeline
