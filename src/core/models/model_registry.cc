#include "core/models/model_registry.h"

#include "base/number.h"

namespace wasinn::core {
namespace {

Status NoSuchModel(std::string_view name) {
  return Error(WASINN_ERROR_NOT_FOUND, "no model is registered as '{}'", name);
}

}  // namespace

Result<std::shared_ptr<Graph>> Model::Get(const Loader& load, const WaitOptions& wait) {
  graph_.ForgetIf([](const std::shared_ptr<Graph>& graph) { return graph->lost(); });
  return graph_.Get(wait, source_.title(), [&] { return Compile(load); });
}

Result<std::shared_ptr<Graph>> Model::Compile(const Loader& load) {
  compiles_.fetch_add(1, std::memory_order_relaxed);
  stamp_.store(StampOf(source_.paths, source_.folder), std::memory_order_relaxed);
  return load(source_);
}

void Model::Unload() { graph_.Forget(); }

Status ModelRegistry::Add(std::shared_ptr<Model> model) {
  std::string name = model->source().name;
  RETURN_IF_ERROR(CheckModelName(name));
  const uint32_t version = model->source().version;
  Versions added;  // then the former version, which is freed after the lock
  added.emplace(version, std::move(model));
  std::lock_guard lock(mutex_);
  Versions& versions = models_[std::move(name)];
  // Nothing below allocates, so a name never loses its version.
  Versions::node_type before = versions.extract(version);
  versions.merge(added);
  added.insert(std::move(before));
  return Status();
}

Status ModelRegistry::Remove(std::string_view name) {
  Versions removed;  // freed after the lock
  std::lock_guard lock(mutex_);
  if (auto found = models_.find(name); found != models_.end()) {
    removed.swap(found->second);
    models_.erase(found);
    return Status();
  }
  const auto split = SplitVersion(name);
  if (!split) return NoSuchModel(name);
  auto found = models_.find(split->first);
  if (found == models_.end()) return NoSuchModel(name);
  const auto version = found->second.find(split->second);
  if (version == found->second.end()) return NoSuchModel(name);
  removed.insert(found->second.extract(version));
  if (found->second.empty()) models_.erase(found);
  return Status();
}

std::vector<std::shared_ptr<Model>> ModelRegistry::Named(std::string_view name) const {
  const auto found = Find(name);
  if (!found) return {};
  std::vector<std::shared_ptr<Model>> named = All();
  std::erase_if(named, [&](const auto& model) { return model != *found && model->source().name != name; });
  return named;
}

Status ModelRegistry::Unload(std::string_view name) const {
  const std::vector<std::shared_ptr<Model>> named = Named(name);
  for (const std::shared_ptr<Model>& model : named) model->Unload();
  return named.empty() ? NoSuchModel(name) : Status();
}

Result<std::shared_ptr<Model>> ModelRegistry::Find(std::string_view name) const {
  std::lock_guard lock(mutex_);
  if (auto found = models_.find(name); found != models_.end()) return found->second.rbegin()->second;
  if (const auto split = SplitVersion(name)) {
    if (auto found = models_.find(split->first); found != models_.end()) {
      if (auto version = found->second.find(split->second); version != found->second.end()) return version->second;
    }
  }
  return std::unexpected(NoSuchModel(name));
}

std::pair<std::vector<std::string>, size_t> ModelRegistry::Names(size_t most) const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (auto it = models_.begin(); it != models_.end() && names.size() < most; ++it) names.push_back(it->first);
  return {std::move(names), models_.size()};
}

std::vector<uint32_t> ModelRegistry::VersionsOf(std::string_view name) const {
  std::lock_guard lock(mutex_);
  std::vector<uint32_t> versions;
  if (const auto found = models_.find(name); found != models_.end()) {
    for (const auto& [version, model] : found->second) versions.push_back(version);
  }
  return versions;
}

std::vector<std::shared_ptr<Model>> ModelRegistry::All() const {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Model>> models;
  for (const auto& [name, versions] : models_) {
    for (const auto& [version, model] : versions) models.push_back(model);
  }
  return models;
}

Status CheckModelName(std::string_view name) {
  if (name.empty()) return Error(WASINN_ERROR_INVALID_ARGUMENT, "a model needs a name");
  if (name.find(':') == std::string_view::npos) return Status();
  return Error(WASINN_ERROR_INVALID_ARGUMENT,
               "a model cannot be named '{}': a colon separates a name and a version (NAME:2)", name);
}

std::optional<std::pair<std::string_view, uint32_t>> SplitVersion(std::string_view name) {
  const size_t colon = name.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto version = base::ParseNumber<uint32_t>(name.substr(colon + 1));
  if (!version) return std::nullopt;
  return std::pair(name.substr(0, colon), *version);
}

Status Batching::Check() const {
  if (max_batch_size > kMaxRows) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "max_batch_size is {}: it may be {} at most", max_batch_size, kMaxRows);
  }
  if (instance_count > kMaxInstances) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "instance_count is {}: it may be {} at most", instance_count,
                 kMaxInstances);
  }
  const bool has_more = instance_count > 0 || max_queue_delay_microseconds > 0 || !preferred_batch_size.empty();
  if (!is_on() && has_more) return Error(WASINN_ERROR_INVALID_ARGUMENT, "batching needs a max_batch_size");
  for (const uint32_t size : preferred_batch_size) {
    if (size > 0 && size <= max_batch_size) continue;
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "a preferred_batch_size is {}: expected 1 to max_batch_size, {}", size,
                 max_batch_size);
  }
  return Status();
}

}  // namespace wasinn::core
