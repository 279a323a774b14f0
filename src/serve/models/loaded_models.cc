// The part of KnownModels that unloads models: those above a number, and those that were not used for a while.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/log.h"
#include "serve/models/known_models.h"

namespace wasinn::serve {

// By the time of their last use; needs `room_`. `loaded`: all except `but`.
std::multimap<KnownModels::Clock::time_point, ModelInfo> KnownModels::Resting(const Key& but, std::set<Key>& loaded) {
  std::multimap<Clock::time_point, ModelInfo> resting;
  for (ModelInfo& model : host_.Models()) {
    const Key key(model.name, model.version);
    if (!model.loaded || key == but) continue;
    loaded.insert(key);
    const auto since = since_.try_emplace(key, Clock::now()).first->second;
    if (settings_.preloads(model.name)) continue;
    resting.emplace(std::max(since, statistics_->Last(model.name, model.version)), std::move(model));
  }
  std::erase_if(since_, [&](const auto& one) { return one.first != but && !loaded.contains(one.first); });
  return resting;
}

// Whether it is being loaded, or a request holds it in addition to `known_`.
bool KnownModels::IsInUse(const ModelInfo& model) const {
  const Key key(model.name, model.version);
  if (std::ranges::any_of(loading_, [&](const auto& one) { return one->key == key; })) return true;
  const auto versions = known_.find(model.name);
  return versions != known_.end() && std::ranges::any_of(versions->second, [&](const auto& known) {
           return known.second->info.version == model.version && known.second.use_count() > 1;
         });
}

// A request that comes now loads it again, and waits for `room_`, which the caller holds. Other versions stay known.
bool KnownModels::TryUnload(const ModelInfo& model) {
  {
    const std::lock_guard lock(mutex_);
    if (IsInUse(model)) return false;
    if (const auto versions = known_.find(model.name); versions != known_.end()) {
      std::erase_if(versions->second, [&](const auto& one) { return one.second->info.version == model.version; });
    }
  }
  const std::string name = NameOf(model.name, std::to_string(model.version));
  cli::Log(WASINN_LOG_INFO, fmt::format("repository: unloaded model '{}'", name).c_str());
  (void)host_.UnloadModel(name);
  TellForgotten(model.name);
  return true;
}

Outcome<KnownModels::Mark> KnownModels::MakeRoom(const ModelInfo& model) {
  const Key key(model.name, model.version);
  const std::lock_guard room(room_);
  if (settings_.max_loaded > 0) {
    std::set<Key> loaded;
    auto resting = Resting(key, loaded);
    {
      const std::lock_guard lock(mutex_);
      for (const auto& one : loading_) loaded.insert(one->key);
    }
    loaded.erase(key);
    for (size_t n = loaded.size(); n >= settings_.max_loaded; resting.erase(resting.begin())) {
      if (resting.empty()) {
        return std::unexpected(Failure{
            WASINN_ERROR_BUSY, fmt::format("no more than {} models may be loaded (max_loaded), and all have requests",
                                           settings_.max_loaded)});
      }
      if (TryUnload(resting.begin()->second)) --n;
    }
  }
  const auto loading = std::make_shared<Loading>(key);
  const std::lock_guard lock(mutex_);
  loading_.insert(loading);
  return Mark(loading.get(), [this, loading](const Loading*) {
    const std::scoped_lock locks(room_, mutex_);
    if (settings_.max_loaded > 0 || settings_.idle_unload.count() > 0) since_[loading->key] = Clock::now();
    loading_.erase(loading);
  });
}

bool KnownModels::IsLoading(const std::string& model) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(loading_, [&](const auto& one) { return one->key.first == model; });
}

void KnownModels::Sweep() {
  if (settings_.idle_unload.count() == 0) return;
  const std::lock_guard room(room_);
  std::set<Key> loaded;
  for (const auto& [last, model] : Resting({}, loaded)) {
    if (Clock::now() - last >= settings_.idle_unload) (void)TryUnload(model);
  }
}

}  // namespace wasinn::serve
