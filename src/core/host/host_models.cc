// The part of a host that registers models, and loads models over other models: pipelines, and models with batches.
#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "core/batching/batched_graph.h"
#include "core/host/host.h"
#include "core/models/model_files.h"
#include "core/models/model_registry.h"
#include "core/pipeline/pipeline_graph.h"
#include "core/text.h"

namespace wasinn::core {
namespace {

Status NoSuchVersion(const ModelOptions& options, std::span<const ModelFiles> versions) {
  std::vector<std::string> numbers;
  for (const ModelFiles& files : versions) numbers.push_back(std::to_string(files.version));
  return Error(WASINN_ERROR_NOT_FOUND, "model '{}': folder '{}' has no version {}, only {}", options.name, options.path,
               options.version, Join(numbers));
}

Status CannotIsolate(const std::string& model) {
  return Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
               "model '{}': a SavedModel is a folder, and a worker gets the model's first file only: expected a frozen "
               "GraphDef, or isolate = false for this model",
               model);
}

// Files of native code that the model needs: libraries of operators, and itself. At a load, the backend checks the key
// further.
std::vector<std::string> CodeOf(const std::string& config, const std::string& file) {
  const auto json = base::ParseJson(config);
  const auto found = json.find("op_libraries");
  std::vector<std::string> libraries;
  if (file.ends_with(".pt2")) libraries.push_back(std::filesystem::absolute(file));
  if (found == json.end()) return libraries;
  for (const auto& one : *found) {
    if (one.is_string() && one.get_ref<const std::string&>().starts_with('/')) libraries.push_back(one);
  }
  return libraries;
}

std::shared_ptr<Workers> OwnWorkers(const std::string& model, const std::string& config, const std::string& file) {
  return std::make_shared<Workers>(fmt::format("model '{}'", model), UINT64_MAX, UINT64_MAX, CodeOf(config, file));
}

}  // namespace

ModelSource Host::SourceOf(const ModelOptions& options) const {
  ModelSource source{options};
  source.version = std::max(options.version, 1u);
  source.encoding = FormatName(options.encoding);
  if (options.isolate.value_or(isolate_models_)) source.workers = OwnWorkers(options.name, options.config, "");
  return source;
}

Status Host::AddModel(const ModelOptions& options) {
  RETURN_IF_ERROR(CheckModelName(options.name));
  if (options.warm_up.computes > WarmUp::kMaxComputes) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "model '{}': warm_up is {}: it may be {} at most", options.name,
                 options.warm_up.computes, WarmUp::kMaxComputes);
  }
  const std::string model = fmt::format("model '{}'", options.name);
  RETURN_IF_ERROR(At(model, options.batching.Check()));
  if (!options.pipeline.empty()) return AddPipeline(options);
  ModelSource source = SourceOf(options);
  RETURN_IF_ERROR(At(model, backends_.CheckFormat(source.encoding, WASINN_ERROR_INVALID_ARGUMENT, {})));
  if (!options.parts.empty()) {
    RETURN_IF_ERROR(At(model, CheckBytes(source.encoding)));
    return Register(std::move(source));
  }
  const bool is_address = !SchemeOf(options.path).empty() && !options.path.starts_with(kRegistry);
  if (!is_address) return AddFiles(options);
  RETURN_IF_ERROR(At(model, SetAddress(source, options)));
  return Register(std::move(source));
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): it does not see that a Result takes its Status along

// Adds all versions of a folder, or none.
Status Host::AddFiles(const ModelOptions& options) {
  auto origin = std::make_shared<const ModelOptions>(options);
  ASSIGN_OR_RETURN(std::vector<ModelSource> sources, FindSources(origin));
  std::vector<std::shared_ptr<Model>> models;
  for (ModelSource& source : sources) {
    ASSIGN_OR_RETURN(std::shared_ptr<Model> model, Prepare(std::move(source)));
    models.push_back(std::move(model));
  }
  for (std::shared_ptr<Model>& model : models) {
    RETURN_IF_ERROR(models_.Add(std::move(model)));
  }
  const std::lock_guard lock(origins_mutex_);
  std::erase_if(origins_,
                [&](const auto& one) { return one->name == options.name && one->version == options.version; });
  origins_.push_back(std::move(origin));
  return Status();
}

Result<std::vector<ModelSource>> Host::FindSources(const std::shared_ptr<const ModelOptions>& origin) {
  const ModelOptions& options = *origin;
  ModelSource source = SourceOf(options);
  source.origin = origin;
  ASSIGN_OR_RETURN(std::vector<ModelFiles> versions, FindFiles(options.path, source.encoding));
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(options.path, ignored);
  std::vector<ModelSource> sources;
  for (const ModelFiles& files : versions) {
    ModelSource one = source;
    one.paths = files.paths;
    if (is_folder) one.folder = std::filesystem::path(files.paths.front()).parent_path();
    if (one.encoding.empty()) one.encoding = files.encoding;
    if (options.version == 0) one.version = files.version;
    if (options.version != 0 && versions.size() > 1 && files.version != options.version) continue;
    if (one.workers != nullptr && NeedsItsFolder(one.paths.front())) {
      return std::unexpected(CannotIsolate(options.name));
    }
    // Each version has its own workers: ending them affects no other version.
    if (one.workers != nullptr) {
      one.workers = OwnWorkers(one.full_name(), one.config, one.paths.front());
    }
    sources.push_back(std::move(one));
  }
  if (sources.empty()) return std::unexpected(NoSuchVersion(options, versions));
  return sources;
}

// Nothing of it runs here, so it has no worker. The host reads nothing, so a server may start later.
Status Host::SetAddress(ModelSource& source, const ModelOptions& options) {
  ASSIGN_OR_RETURN(const Formats formats, backends_.AllFormats({}));
  ASSIGN_OR_RETURN(std::string format, FormatOfScheme(formats, SchemeOf(options.path)));
  if (!source.encoding.empty() && source.encoding != format) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "a model at '{}' is of encoding {}, not {}", options.path, format,
                 source.encoding);
  }
  if (options.isolate.value_or(false)) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "a model at an address has no worker, so 'isolate' is not for it");
  }
  source.encoding = std::move(format);
  source.paths = {options.path};
  source.is_address = true;
  source.workers = nullptr;
  return Status();
}

// Checks whether a model of this format can be bytes.
Status Host::CheckBytes(const std::string& format, const WaitOptions& wait) {
  if (format.empty() || HasFormat(StandardFormats(), format)) return Status();
  const Result<Formats> formats = backends_.AllFormats(wait);
  if (!formats || !HasAddresses(*formats, format)) return Status();
  return Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
               "a model of encoding {} is an address, which only the host's configuration names", format);
}

// A model that is compiled now gets its name afterwards: a failure replaces no other model.
Result<std::shared_ptr<Model>> Host::Prepare(ModelSource source) {
  source.metrics = metrics_.OfModel(source.name, source.version);
  auto model = std::make_shared<Model>(std::move(source));
  if (model->source().preload) {
    if (auto graph = LoadModel(*model, OwnWaitOptions(), {}); !graph) return std::unexpected(std::move(graph.error()));
  }
  return model;
}

Status Host::Register(ModelSource source) {
  Result<std::shared_ptr<Model>> model = Prepare(std::move(source));
  return model ? models_.Add(std::move(*model)) : std::move(model.error());
}

// The backends' tables have the formats that the standard does not know.
Result<std::vector<ModelFiles>> Host::FindFiles(const std::string& path, const std::string& encoding) {
  Result<std::vector<ModelFiles>> files = FindModelFiles(path, encoding, StandardFormats());
  if (files && (!files->front().encoding.empty() || HasFormat(StandardFormats(), encoding))) return files;
  const Result<Formats> formats = backends_.AllFormats({});
  return formats ? FindModelFiles(path, encoding, *formats) : std::move(files);
}

// A folder without a model is skipped.
Status Host::AddModels(const std::string& folder) {
  ASSIGN_OR_RETURN(std::vector<std::string> names, FindFolders(folder));
  size_t found = 0;
  for (const std::string& name : names) {
    const std::string path = fmt::format("{}/{}", folder, name);
    if (!FindFiles(path, "")) continue;
    RETURN_IF_ERROR(AddModel({.name = name, .path = path}));
    ++found;
  }
  {
    const std::lock_guard lock(origins_mutex_);
    model_dirs_.push_back(folder);
  }
  if (found == 0 && HasEntries(folder)) {
    logger_.Write(WASINN_LOG_WARNING, fmt::format("'{0}' has files and no models: a model is a folder there, such as "
                                                  "{0}/NAME/model.onnx or {0}/NAME/1/model.onnx",
                                                  folder));
  }
  return Status();
}

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
  return BatchedGraph::Over(std::move(graph), source.batching, source.full_name(),
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
