// The served models, in the words of Triton's model repository.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "serve/models/known_models.h"
#include "serve/models/repository_settings.h"
#include "serve/models/statistics.h"
#include "serve/tenants/tenant.h"

namespace wasinn::serve {

// Thread-safe.
class Repository {
 public:
  // `statistics` outlives it.
  Repository(Host host, const RepositorySettings& settings, std::shared_ptr<const Statistics> statistics);
  Repository(const Repository&) = delete;
  Repository& operator=(const Repository&) = delete;

  // A tenant, which the repository outlives.
  std::unique_ptr<Tenant> NewTenant(GuestSettings settings, TenantOptions options) {
    return Tenant::Make(host_, models_, std::move(settings), std::move(options));
  }

  // Whether the tenant has such a model, and it was not unloaded. Loads nothing.
  void CheckServed(const Tenant& tenant, const std::string& model, const std::string& version) const;
  // Whether it is loaded, or why it cannot be; false: no load was tried, or one is running. Loads nothing.
  bool IsLoaded(const Tenant& tenant, const std::string& model, const std::string& version) const;
  bool IsLoading(const std::string& model) const { return models_.IsLoading(model); }
  // Whether the models that were preloaded at the start can be used. Loads nothing.
  void CheckReady() const;
  // Loads the model if necessary, unless it was unloaded; so do the next functions.
  std::shared_ptr<const KnownModel> Find(const Tenant& tenant, const std::string& model, const std::string& version);
  // NULL: never cancelled.
  InferResponse Infer(Tenant& tenant, const InferRequest& request, Cancellation* cancellation);
  // The same. The text has its first token.
  std::unique_ptr<Completion> Complete(Tenant& tenant, const std::string& model, const std::string& version,
                                       const Prompt& prompt, Cancellation* cancellation);
  // Whether an inference of that many bytes is too short to wake another thread for it, judging by the last ones.
  bool IsQuick(const std::string& model, const std::string& version, size_t bytes) const;
  nlohmann::json Metadata(const Tenant& tenant, const std::string& model, const std::string& version);
  nlohmann::json Config(const Tenant& tenant, const std::string& model, const std::string& version);
  nlohmann::json Index(const Tenant& tenant, bool ready_alone) const;
  // At most `most` models that the tenant sees, with the known facts about each. Loads nothing, and waits for no load.
  nlohmann::json Overview(const Tenant& tenant, size_t most) const;
  // Loads the models that must be there from the start. Returns all failures.
  void Preload();
  // Checks folders and files of models again. Changes and failures are logged.
  void Rescan();
  // Call it now and then, where it may take long: unloads unused models, and checks files if that is due.
  void Upkeep();
  // Whether the tenant may load and unload a model of this name, whether or not there is one.
  void CheckControl(const Tenant& tenant, const std::string& model) const;
  // Loads the current files. Until that is done, and if it fails, the old model serves. Both are only for operators:
  // SECURITY for others.
  void Load(const Tenant& tenant, const std::string& model);
  void Unload(const Tenant& tenant, const std::string& model);

  // By its inputs, or before it is loaded by its format or its address. Loads nothing.
  bool IsLanguageModel(const ModelInfo& model) const;

  bool Knows(const std::string& model) const {
    const std::lock_guard lock(mutex_);
    return names_.contains(model);
  }
  // Only for a loaded model.
  bool Generates(const std::string& model, const std::string& version) const;

  const Host& host() const { return host_; }
  // Loads the models that are loaded in `other`, if they have the same name, and unloads those unloaded there. May take
  // long: later unloads are applied by UnloadAsIn. An error: a model would not be served any more.
  void LoadAsIn(const Repository& other);
  void UnloadAsIn(const Repository& other);

 private:
  // Whether there is such a model, for this tenant, and it was not unloaded.
  void CheckNamed(const Tenant& tenant, const std::string& model) const;
  void ReadNames();
  bool IsUnloaded(const std::string& model) const;
  // The result of `use`, which may load the model.
  template <typename Use>
  auto Using(const Tenant& tenant, const std::string& model, const Use& use);
  void LetGoIfUnloaded(const std::string& model);

  using Reasons = std::map<std::pair<std::string, uint32_t>, std::string>;
  Reasons Rejected() const {
    const std::lock_guard lock(mutex_);
    return rejected_;
  }

  const RepositorySettings settings_;
  Host host_;
  KnownModels models_;
  mutable std::mutex mutex_;     // guards the members below
  std::set<std::string> names_;  // of the host's models
  std::set<std::string> unloaded_;
  std::set<std::string> of_start_;                   // the first names; never changes
  Reasons rejected_;                                 // versions whose new files do not load, with the reasons
  std::chrono::steady_clock::time_point next_scan_;  // for Upkeep
};

}  // namespace wasinn::serve
