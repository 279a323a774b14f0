#include "serve/loaded_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/log.h"

namespace wasinn::serve {

std::multimap<LoadedModels::Clock::time_point, ModelInfo> LoadedModels::Resting(const Key& but, size_t& n_loaded) {
  std::multimap<Clock::time_point, ModelInfo> resting;
  std::map<Key, Clock::time_point> since;
  n_loaded = 0;
  for (ModelInfo& model : host_.Models()) {
    if (!model.loaded) continue;
    const Key key(model.name, model.version);
    const auto seen = since_.find(key);
    const Clock::time_point first = since[key] = seen == since_.end() ? Clock::now() : seen->second;
    if (key == but) continue;
    ++n_loaded;
    const bool stays = options_.keeps_all || options_.keeps.contains(model.name) || options_.is_in_use(model);
    if (!stays) resting.emplace(std::max(first, options_.last_inference(model)), std::move(model));
  }
  since_ = std::move(since);
  return resting;
}

Outcome<void> LoadedModels::MakeRoom(const ModelInfo& model) {
  const Key key(model.name, model.version);
  const std::lock_guard lock(mutex_);
  if (options_.most > 0) {
    size_t n_loaded = 0;
    auto resting = Resting(key, n_loaded);
    std::set<Key> others(loading_.begin(), loading_.end());
    std::erase_if(others, [&](const Key& one) { return one == key || since_.contains(one); });
    for (n_loaded += others.size(); n_loaded >= options_.most; --n_loaded) {
      if (resting.empty()) {
        return std::unexpected(
            Failure{WASINN_ERROR_BUSY,
                    fmt::format("{} models are loaded, no more may be (max_loaded), and all have requests", n_loaded)});
      }
      options_.unload(resting.begin()->second);
      resting.erase(resting.begin());
    }
  }
  loading_.insert(key);
  return {};
}

void LoadedModels::Done(const ModelInfo& model) {
  const std::lock_guard lock(mutex_);
  const Key key(model.name, model.version);
  loading_.erase(loading_.find(key));
  since_.try_emplace(key, Clock::now());
}

void LoadedModels::Sweep() {
  if (options_.idle.count() == 0) return;
  const std::lock_guard lock(mutex_);
  size_t n_loaded = 0;
  for (const auto& [last, model] : Resting({}, n_loaded)) {
    if (Clock::now() - last >= options_.idle) options_.unload(model);
  }
}

}  // namespace wasinn::serve
