#include "api/objects.h"
#include "core/c_struct.h"
#include "core/metrics/metrics.h"
#include "core/words.h"

namespace wasinn::api {
namespace {

core::Result<core::Batching> ToBatching(const wasinn_batching* given) {
  if (given == nullptr) return core::Batching();
  ASSIGN_OR_RETURN(const wasinn_batching read, core::ReadStruct(*given, "wasinn_batching"));
  core::Batching batching{.max_batch_size = read.max_batch_size,
                          .preferred_batch_size = {},
                          .max_queue_delay_microseconds = read.max_queue_delay_microseconds,
                          .instance_count = read.instance_count};
  const uint32_t* const preferred = read.preferred_batch_size;
  if (preferred != nullptr) batching.preferred_batch_size.assign(preferred, preferred + read.n_preferred_batch_size);
  return batching;
}

core::Status AddNames(const wasinn_tensor_name* names, size_t n, pipeline::Names& map) {
  for (size_t i = 0; i < n; ++i) {
    if (!map.emplace(names[i].model, names[i].pipeline).second) {
      return core::Error(WASINN_ERROR_INVALID_ARGUMENT, "the map of a step has '{}' twice", names[i].model);
    }
  }
  return {};
}

core::Status AddSteps(const wasinn_model_options& options, pipeline::Spec& pipeline) {
  for (size_t i = 0; i < options.n_steps; ++i) {
    ASSIGN_OR_RETURN(const wasinn_step read, core::ReadStruct(*options.steps[i], "wasinn_step"));
    pipeline::StepSpec& step = pipeline.steps.emplace_back();
    step.model_name = read.model_name == nullptr ? "" : read.model_name;
    RETURN_IF_ERROR(AddNames(read.input_map, read.n_input_map, step.input_map));
    RETURN_IF_ERROR(AddNames(read.output_map, read.n_output_map, step.output_map));
  }
  pipeline.inputs.assign(options.inputs, options.inputs + options.n_inputs);
  pipeline.outputs.assign(options.outputs, options.outputs + options.n_outputs);
  return {};
}

core::Result<core::ModelOptions> ToModelOptions(const char* name, const wasinn_model_options& given) {
  ASSIGN_OR_RETURN(const wasinn_model_options options, core::ReadStruct(given, "wasinn_model_options"));
  ASSIGN_OR_RETURN(wasinn_target target, core::TargetOf("wasinn_model_options.target", options.target));
  ASSIGN_OR_RETURN(core::Batching batching, ToBatching(options.batching));
  core::ModelOptions model{.name = name,
                           .path = options.path == nullptr ? "" : options.path,
                           .encoding = options.encoding == nullptr ? "" : options.encoding,
                           .target = target,
                           .version = options.version,
                           .config = options.config == nullptr ? "{}" : options.config,
                           .backend = options.backend == nullptr ? "" : options.backend,
                           .immutable = options.immutable,
                           .preload = options.preload,
                           .isolate = options.isolate ? std::optional(true) : std::nullopt,
                           .warm_up = {.computes = options.warm_up},
                           .batching = std::move(batching)};
  for (size_t i = 0; i < options.n_builders; ++i) {
    model.parts.push_back(core::Blob::Copy({options.builders[i].data, options.builders[i].size}));
  }
  RETURN_IF_ERROR(AddSteps(options, model.pipeline));
  return model;
}

core::Status Inspect(core::Host& host, const char* name, wasinn_io_fn fn, void* user) {
  ASSIGN_OR_RETURN(std::shared_ptr<core::Graph> graph, host.LoadNamed(name));
  uint32_t index = 0;
  for (const wasinn_io* io : graph->inputs()) fn(user, false, index++, io);
  index = 0;
  for (const wasinn_io* io : graph->outputs()) fn(user, true, index++, io);
  return {};
}

core::BackendReport ReportOf(const core::Graph& graph) {
  if (graph.backend() != nullptr) return core::Describe(*graph.backend());
  return {.name = graph.backend_name(), .framework = "wasinn"};
}

void ListModels(core::Host& host, wasinn_model_fn fn, void* user) {
  for (const std::shared_ptr<core::Model>& model : host.models().All()) {
    const core::ModelSource& source = model->source();
    const std::shared_ptr<core::Graph> graph = model->graph();
    const core::BackendReport runs_on = graph ? ReportOf(*graph) : core::BackendReport();
    std::vector<const char*> steps;
    steps.reserve(source.pipeline.steps.size());
    for (const pipeline::StepSpec& step : source.pipeline.steps) steps.push_back(step.model_name.c_str());
    const wasinn_model_info info{.struct_size = sizeof(wasinn_model_info),
                                 .name = source.name.c_str(),
                                 .version = source.version,
                                 // recognised from the bytes, perhaps
                                 .encoding = (graph ? graph->encoding() : source.encoding).c_str(),
                                 .target = source.target,
                                 .path = source.paths.empty() ? "" : source.paths.front().c_str(),
                                 .loaded = graph != nullptr,
                                 .compiles = model->compiles(),
                                 .backend = runs_on.name.c_str(),
                                 .framework = runs_on.framework.c_str(),
                                 .library = runs_on.library.c_str(),
                                 .steps = steps.data(),
                                 .n_steps = steps.size(),
                                 .max_batch_size = source.batching.max_batch_size};
    fn(user, &info);
  }
}

void ListBackends(core::Host& host, wasinn_backend_fn fn, void* user) {
  for (const core::BackendReport& report : host.backends().Report()) {
    const wasinn_backend_report c_report{.struct_size = sizeof(wasinn_backend_report),
                                         .name = report.name.c_str(),
                                         .encodings = report.encodings.c_str(),
                                         .available = report.available,
                                         .framework = report.framework.c_str(),
                                         .devices = report.devices.c_str(),
                                         .library = report.library.c_str(),
                                         .missing = report.missing.c_str(),
                                         .install = report.install.c_str(),
                                         .keys = report.keys.data(),
                                         .n_keys = report.keys.size(),
                                         .looked_for = report.looked_for.c_str()};
    fn(user, &c_report);
  }
}

}  // namespace
}  // namespace wasinn::api

namespace api = wasinn::api;
namespace core = wasinn::core;

wasinn_config* wasinn_config_new(void) { return new (std::nothrow) wasinn_config; }
void wasinn_config_free(wasinn_config* config) { delete config; }
wasinn_status* wasinn_config_load_file(wasinn_config* config, const char* path) {
  return api::Guard([&] { return config->LoadFile(path); });
}
wasinn_status* wasinn_config_load_toml(wasinn_config* config, const char* toml) {
  return api::Guard([&] { return config->LoadText(toml); });
}
wasinn_status* wasinn_config_set(wasinn_config* config, const char* key, const char* value) {
  return api::Guard([&] { return config->Set(key, value); });
}
void wasinn_config_on_span(wasinn_config* config, wasinn_span_fn fn, void* user) { config->OnSpan(fn, user); }

wasinn_status* wasinn_host_new(const wasinn_config* config, wasinn_log_fn log, void* user, wasinn_host** out) {
  return api::Guard([&]() -> core::Status {
    const core::Config defaults;
    ASSIGN_OR_RETURN(core::HostOptions options,
                     (config == nullptr ? defaults : static_cast<const core::Config&>(*config)).ToHostOptions());
    ASSIGN_OR_RETURN(std::shared_ptr<core::Host> host, core::Host::Create(std::move(options), log, user));
    *out = new wasinn_host{std::move(host)};
    return {};
  });
}
void wasinn_host_free(wasinn_host* host) { delete host; }

void wasinn_host_stop_loads(wasinn_host* host) { host->host->StopLoads(); }

wasinn_status* wasinn_host_limits(const wasinn_host* host, wasinn_limits* out) {
  return api::Guard([&] { return core::WriteStruct(*out, host->host->limits(), "wasinn_limits"); });
}

wasinn_status* wasinn_host_engine_options(const wasinn_host* host, wasinn_engine_options* out) {
  return api::Guard([&] { return core::WriteStruct(*out, host->host->engine_options(), "wasinn_engine_options"); });
}

wasinn_status* wasinn_host_engine_limits(const wasinn_host* host, wasinn_engine_limits* out) {
  return api::Guard([&] { return core::WriteStruct(*out, host->host->engine_limits(), "wasinn_engine_limits"); });
}

wasinn_status* wasinn_host_policy(const wasinn_host* host, wasinn_policy* out) {
  return api::Guard([&] { return core::WriteStruct(*out, host->host->policy_in_c(), "wasinn_policy"); });
}

wasinn_status* wasinn_host_add_model(wasinn_host* host, const char* name, const wasinn_model_options* options) {
  return api::Guard([&]() -> core::Status {
    core::Result<core::ModelOptions> model = api::ToModelOptions(name, *options);
    return model ? host->host->AddModel(*model) : std::move(model.error());
  });
}
wasinn_status* wasinn_host_add_models(wasinn_host* host, const char* folder) {
  return api::Guard([&] { return host->host->AddModels(folder); });
}
wasinn_status* wasinn_host_remove_model(wasinn_host* host, const char* name) {
  return api::Guard([&] { return host->host->RemoveModel(name); });
}
wasinn_status* wasinn_host_unload_model(wasinn_host* host, const char* name) {
  return api::Guard([&] { return host->host->models().Unload(name); });
}
wasinn_status* wasinn_host_reload_model(wasinn_host* host, const char* name) {
  return api::Guard([&] { return host->host->Reload(name); });
}

wasinn_status* wasinn_host_rescan_models(wasinn_host* host, wasinn_model_change_fn fn, void* user) {
  return api::Guard([&]() -> core::Status {
    host->host->Rescan([&](const core::ModelSource& model, wasinn_model_change_kind kind, const std::string& why) {
      const wasinn_model_change change{.struct_size = sizeof(wasinn_model_change),
                                       .name = model.name.c_str(),
                                       .version = model.version,
                                       .kind = kind,
                                       .message = why.c_str()};
      if (fn != nullptr) fn(user, &change);
    });
    return {};
  });
}

wasinn_status* wasinn_host_check_encoding(wasinn_host* host, const char* word) {
  return api::Guard(
      [&] { return host->host->backends().CheckFormat(core::FormatName(word), WASINN_ERROR_INVALID_ARGUMENT, {}); });
}

void wasinn_host_models(wasinn_host* host, wasinn_model_fn fn, void* user) {
  api::Guard(*host->host, "wasinn_host_models", [&] { api::ListModels(*host->host, fn, user); });
}

wasinn_status* wasinn_host_inspect(wasinn_host* host, const char* name, wasinn_io_fn fn, void* user) {
  return api::Guard([&] { return api::Inspect(*host->host, name, fn, user); });
}

void wasinn_host_backends(wasinn_host* host, wasinn_backend_fn fn, void* user) {
  api::Guard(*host->host, "wasinn_host_backends", [&] { api::ListBackends(*host->host, fn, user); });
}

wasinn_status* wasinn_host_metrics(wasinn_host* host, wasinn_text_fn fn, void* user) {
  return api::Guard([&]() -> core::Status {
    const std::string text = core::MetricsText(*host->host);
    fn(user, text.c_str(), text.size());
    return {};
  });
}
