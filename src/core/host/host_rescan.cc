// The part of a host that rescans its models' folders and files.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/host/host.h"
#include "core/models/model_registry.h"

namespace wasinn::core {
namespace {

uint32_t NumberOfVersion(const std::shared_ptr<Model>& model) { return model->source().version; }

bool HasVersion(const std::vector<std::shared_ptr<Model>>& models, uint32_t version) {
  return std::ranges::find(models, version, NumberOfVersion) != models.end();
}

// False: something is there, or that cannot be seen now.
bool IsGone(const std::string& file) {
  std::error_code ignored;
  return std::filesystem::symlink_status(file, ignored).type() == std::filesystem::file_type::not_found;
}

}  // namespace

// The current models of one origin, compared with the registered ones.
struct Host::Found {
  std::vector<std::shared_ptr<Model>> registered;  // and still there
  std::vector<std::shared_ptr<Model>> fresh;       // new versions, or versions with other files
  std::vector<std::shared_ptr<Model>> gone;
  std::vector<std::shared_ptr<Model>> unseen;  // registered; their files are not gone, and no model is seen there
  bool has_failed = false;                     // a part of it is not known
};

Status Host::RemoveModel(std::string_view name) {
  Status status = models_.Remove(name);
  const std::lock_guard lock(origins_mutex_);
  if (status.ok()) std::erase_if(origins_, [&](const auto& origin) { return origin->name == name; });
  return status;
}

// The origins of all models, or of one, including new ones in the host's folders of models.
std::vector<std::shared_ptr<const ModelOptions>> Host::Origins(std::string_view name) {
  std::vector<std::shared_ptr<const ModelOptions>> origins;
  std::vector<std::string> folders;
  {
    const std::lock_guard lock(origins_mutex_);
    origins = origins_;
    folders = model_dirs_;
  }
  for (const std::string& folder : folders) {
    const Result<std::vector<std::string>> names = FindFolders(folder);
    for (const std::string& one : names ? *names : std::vector<std::string>()) {
      const bool is_known = std::ranges::any_of(origins, [&](const auto& origin) { return origin->name == one; });
      const std::string path = fmt::format("{}/{}", folder, one);
      if (is_known || models_.Find(one) || !FindFiles(path, "")) continue;
      if (const Status named = CheckModelName(one); !named.ok()) {  // it is known from now on, and stays unregistered
        logger_.Write(WASINN_LOG_WARNING, fmt::format("folder '{}': {}", path, named.message()));
      }
      origins.push_back(std::make_shared<const ModelOptions>(ModelOptions{.name = one, .path = path}));
      const std::lock_guard lock(origins_mutex_);
      origins_.push_back(origins.back());
    }
  }
  if (!name.empty()) std::erase_if(origins, [&](const auto& origin) { return origin->name != name; });
  return origins;
}

Host::Found Host::LookAgain(const std::shared_ptr<const ModelOptions>& origin) {
  Found found;
  std::vector<std::shared_ptr<Model>> known = models_.Named(origin->name);
  Result<std::vector<ModelSource>> sources = FindSources(origin);
  const bool has_sources = sources.has_value();
  bool are_unseen = false;
  if (!has_sources) {
    const std::string folder = std::filesystem::path(origin->path).parent_path();
    const std::lock_guard lock(origins_mutex_);
    // A model that was registered by itself stays: its file may come back, and the loaded one still works.
    if (std::ranges::find(model_dirs_, folder) == model_dirs_.end()) {
      found.has_failed = true;
      return found;
    }
    are_unseen = sources.error().code() != WASINN_ERROR_NOT_FOUND || !FindFolders(folder);
    sources = std::vector<ModelSource>();
  }
  for (ModelSource& source : *sources) {
    const auto last = std::ranges::find(known, source.version, NumberOfVersion);
    if (last == known.end() || ((*last)->source().origin == origin && (*last)->source().paths != source.paths)) {
      source.metrics = metrics_.OfModel(source.name, source.version);
      found.fresh.push_back(std::make_shared<Model>(std::move(source)));
    } else if ((*last)->source().origin == origin) {
      found.registered.push_back(*last);
    }
    if (last != known.end()) known.erase(last);
  }
  std::erase_if(known, [&](const auto& one) { return one->source().origin != origin; });
  for (std::shared_ptr<Model>& model : known) {
    const bool is_gone = !are_unseen && IsGone(model->source().paths.front());
    (is_gone ? found.gone : found.unseen).push_back(std::move(model));
  }
  found.has_failed = !found.unseen.empty();
  if (has_sources || found.has_failed) return found;
  const std::lock_guard lock(origins_mutex_);
  std::erase(origins_, origin);
  return found;
}

Result<std::shared_ptr<Graph>> Host::Recompile(Model& model) {
  return model.Compile([&](const ModelSource& source) { return CompileModel(source, OwnWaitOptions(), {}); });
}

Status Host::Reload(std::string_view name) {
  std::vector<std::shared_ptr<Model>> fresh, gone;
  for (const auto& origin : Origins(name)) {
    Found found = LookAgain(origin);
    std::ranges::move(found.fresh, std::back_inserter(fresh));
    std::ranges::move(found.gone, std::back_inserter(gone));
  }
  std::vector<std::shared_ptr<Model>> models = models_.Named(name);
  const auto is_past = [&](const std::shared_ptr<Model>& model) {
    return std::ranges::find(gone, model) != gone.end() || HasVersion(fresh, NumberOfVersion(model));
  };
  std::erase_if(models, is_past);
  models.insert(models.end(), fresh.begin(), fresh.end());
  std::vector<std::shared_ptr<Graph>> graphs;
  for (const std::shared_ptr<Model>& model : models) {
    ASSIGN_OR_RETURN(std::shared_ptr<Graph> graph, Recompile(*model));
    graphs.push_back(std::move(graph));
  }
  for (size_t i = 0; i < models.size(); ++i) models[i]->Set(std::move(graphs[i]));
  for (std::shared_ptr<Model>& model : fresh) {
    RETURN_IF_ERROR(models_.Add(std::move(model)));
  }
  for (const std::shared_ptr<Model>& model : gone) (void)models_.Remove(model->source().full_name());
  return models.empty() ? models_.Unload(name) : Status();  // which reports that there is none
}

void Host::Rescan(const std::shared_ptr<const ModelOptions>& origin, const ModelChanged& notify) {
  Found found = LookAgain(origin);
  const std::vector<std::shared_ptr<Model>> named = models_.Named(origin->name);
  const bool is_loaded = std::ranges::any_of(named, [](const auto& one) { return one->graph() != nullptr; });
  bool is_broken = found.has_failed;
  const auto compile = [&](const std::shared_ptr<Model>& model) {
    Result<std::shared_ptr<Graph>> graph = Recompile(*model);
    if (graph) {
      model->Set(std::move(*graph));
      return true;
    }
    is_broken = true;
    notify(model->source(), WASINN_MODEL_CHANGE_FAILED, std::string(graph.error().message()));
    return false;
  };
  for (const std::shared_ptr<Model>& model : found.registered) {
    const auto rejected = rejected_.extract(model->source().full_name());
    // Else a reload has taken the rejected files in the meantime.
    const bool is_back =
        rejected && (rejected.mapped() == model || rejected.mapped()->source().paths != model->source().paths);
    const bool compiles = model->graph() != nullptr && (is_back || model->HasChanged());
    if (compiles ? compile(model) : is_back) notify(model->source(), WASINN_MODEL_CHANGE_RELOADED, "");
  }
  for (const std::shared_ptr<Model>& model : found.unseen) {
    const std::string name = model->source().full_name();
    if (!rejected_.insert_or_assign(name, model).second) continue;
    notify(model->source(), WASINN_MODEL_CHANGE_FAILED,
           fmt::format("model '{}': '{}' is not a readable file: the model stays as it was", name,
                       model->source().paths.front()));
  }
  std::erase_if(rejected_, [&](const auto& one) {
    const ModelSource& source = one.second->source();
    if (found.has_failed || source.origin != origin || HasVersion(found.fresh, source.version)) return false;
    if (!HasVersion(found.gone, source.version)) notify(source, WASINN_MODEL_CHANGE_REMOVED, "");
    return true;
  });
  for (std::shared_ptr<Model>& model : found.fresh) {
    const std::string name = model->source().full_name();
    if (const auto last = rejected_.find(name); last != rejected_.end()) {
      const bool is_same = last->second->source().paths == model->source().paths && !last->second->HasChanged();
      is_broken |= is_same;
      if (is_same) continue;
      rejected_.erase(last);
    }
    // The old version stays if the new one does not load.
    if ((is_loaded || origin->preload) && !compile(model)) {
      rejected_.insert_or_assign(name, std::move(model));
      continue;
    }
    const std::shared_ptr<Model> added = model;
    if (models_.Add(std::move(model)).ok()) notify(added->source(), WASINN_MODEL_CHANGE_ADDED, "");
  }
  for (const std::shared_ptr<Model>& model : found.gone) {
    if (is_broken) break;
    if (models_.Remove(model->source().full_name()).ok()) notify(model->source(), WASINN_MODEL_CHANGE_REMOVED, "");
  }
}

void Host::Rescan(const ModelChanged& notify) {
  const std::lock_guard lock(rescan_);
  for (const auto& origin : Origins("")) Rescan(origin, notify);
}

}  // namespace wasinn::core
