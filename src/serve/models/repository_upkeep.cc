// The part of the repository that follows changes of its models' files.

#include <utility>

#include "core/text.h"
#include "serve/log.h"
#include "serve/models/repository.h"

namespace wasinn::serve {
namespace {

using Control = RepositorySettings::Control;

}  // namespace

Repository::Repository(Host host, const RepositorySettings& settings, std::shared_ptr<const Statistics> statistics)
    : settings_(settings), host_(std::move(host)), models_(host_, settings_, std::move(statistics)) {
  ReadNames();
  of_start_ = names_;
}

// A new model waits to be loaded by name, if models are loaded in that mode.
void Repository::ReadNames() {
  std::set<std::string> names;
  for (const ModelInfo& model : host_.Models()) names.insert(model.name);
  const std::lock_guard lock(mutex_);
  for (const std::string& name : names) {
    if (settings_.control != Control::kExplicit || names_.contains(name) || settings_.preloads(name)) continue;
    unloaded_.insert(name);
  }
  names_ = std::move(names);
}

void Repository::Preload() {
  std::string failures;
  wasinn_code code = WASINN_OK;
  std::set<std::string> names = settings_.load_models;
  names.erase("*");
  for (const ModelInfo& model : host_.Models()) {
    if (settings_.preloads(model.name)) names.insert(model.name);
  }
  for (const std::string& name : names) {
    try {
      (void)models_.GetWithDetails(name, "");
    } catch (const Failure& failure) {
      code = failure.code;
      failures += (failures.empty() ? "" : "; ") + failure.message;
    }
  }
  if (code != WASINN_OK) throw Failure{code, std::move(failures)};
}

void Repository::CheckReady() const {
  std::vector<ModelInfo> models = host_.Models();
  for (size_t i = 0; i < models.size(); ++i) {
    const ModelInfo& model = models[i];
    const bool is_highest = i + 1 == models.size() || models[i + 1].name != model.name;
    if (model.loaded || !is_highest || !settings_.preloads(model.name) || IsUnloaded(model.name)) continue;
    if (!of_start_.contains(model.name)) continue;
    if (models_.IsLoading(model.name)) {
      Throw(WASINN_ERROR_UNAVAILABLE, "model '{}' is being loaded", model.name);
    }
    if (models_.WhyNot(model)) Throw(WASINN_ERROR_UNAVAILABLE, "model '{}' does not load", model.name);
  }
}

void Repository::Rescan() {
  const Result<std::vector<ModelChange>> changes = host_.RescanModels();
  if (!changes) return Log(WASINN_LOG_ERROR, "{}", changes.status().message());
  for (const ModelChange& change : *changes) {
    const std::string name = NameOf(change.name, std::to_string(change.version));
    const std::pair key(change.name, change.version);
    if (change.kind == WASINN_MODEL_CHANGE_FAILED) {
      models_.LogFailure(name, change.message);
      const std::lock_guard lock(mutex_);
      rejected_[key] = core::WithoutPaths(change.message);
      continue;
    }
    const char* const what = change.kind == WASINN_MODEL_CHANGE_ADDED      ? "added"
                             : change.kind == WASINN_MODEL_CHANGE_RELOADED ? "reloaded"
                                                                           : "removed";
    Log(WASINN_LOG_INFO, "repository: {} model '{}'", what, name);
    models_.Forget(change.name);
    const std::lock_guard lock(mutex_);
    rejected_.erase(key);
  }
  if (changes->empty()) return;
  ReadNames();
  if (settings_.control == Control::kPoll) (void)Try([this] { Preload(); });
}

void Repository::Upkeep() {
  models_.Sweep();
  const auto now = std::chrono::steady_clock::now();
  if (settings_.poll.count() == 0 || now < next_scan_) return;
  next_scan_ = now + settings_.poll;
  Rescan();
}

}  // namespace wasinn::serve
