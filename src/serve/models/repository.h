// The models that are served, by the words of Triton's model repository.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "serve/models/known_models.h"
#include "serve/models/repository_settings.h"
#include "serve/models/statistics.h"
#include "serve/tenants/tenant.h"

namespace wasinn::serve {

// Any thread.
class Repository {
 public:
  // `statistics` outlives it.
  Repository(Host host, const RepositorySettings& settings, std::shared_ptr<const Statistics> statistics);
  Repository(const Repository&) = delete;
  Repository& operator=(const Repository&) = delete;

  // A tenant that the repository outlives.
  Outcome<std::unique_ptr<Tenant>> NewTenant(GuestSettings settings, TenantOptions options) {
    return Tenant::Make(host_, models_, std::move(settings), std::move(options));
  }

  // Whether there is such a model for the tenant, and nobody unloaded it. Loads nothing.
  Outcome<void> CheckServed(const Tenant& tenant, const std::string& model, const std::string& version) const;
  // Whether it is loaded, or why it cannot be; false: nobody has tried, or somebody does so now. Loads nothing.
  Outcome<bool> IsLoaded(const Tenant& tenant, const std::string& model, const std::string& version) const;
  bool IsLoading(const std::string& model) const { return models_.IsLoading(model); }
  // Whether those that are preloaded can be asked. Loads nothing.
  Outcome<void> CheckReady() const;
  // Loads the model if nobody did; not one that somebody unloaded. So does what follows.
  Outcome<std::shared_ptr<const KnownModel>> Find(const Tenant& tenant, const std::string& model,
                                                  const std::string& version);
  // NULL: nobody cancels it.
  Outcome<InferResponse> Infer(Tenant& tenant, const InferRequest& request, Cancellation* cancellation);
  // Likewise. Its first token is there.
  Outcome<std::unique_ptr<Completion>> Complete(Tenant& tenant, const std::string& model, const std::string& version,
                                                const Prompt& prompt, Cancellation* cancellation);
  // Whether that takes so short a time for a request of so many bytes, going by the last ones, that no other thread is worth its wake-up.
  bool IsQuick(const std::string& model, const std::string& version, size_t bytes) const;
  Outcome<nlohmann::json> Metadata(const Tenant& tenant, const std::string& model, const std::string& version);
  Outcome<nlohmann::json> Config(const Tenant& tenant, const std::string& model, const std::string& version);
  nlohmann::json Index(const Tenant& tenant, bool ready_alone) const;
  // No more than `most` models that the tenant sees, with what is known of each by now. Loads nothing, and waits for no load.
  nlohmann::json Overview(const Tenant& tenant, size_t most) const;
  // Loads those that are to be there from the start. The failures of all that do not load.
  Outcome<void> Preload();
  // Looks at folders and files of models again. The log tells what changed, and what does not load.
  void Rescan();
  // To be called now and then, where it may take long: unloads models that nobody uses, and looks at files if that is due.
  void Upkeep();
  // From its files as they are now. Until that is done, and if it fails, what was loaded before serves. Both for operators alone: SECURITY
  // for others.
  Outcome<void> Load(const Tenant& tenant, const std::string& model);
  Outcome<void> Unload(const Tenant& tenant, const std::string& model);

  // Going by what it takes, or before it is loaded by its format or its address. Loads nothing.
  bool IsLanguageModel(const ModelInfo& model) const;

  bool Knows(const std::string& model) const { return names_.contains(model); }
  // Of one that is loaded.
  bool Generates(const std::string& model, const std::string& version) const;

  const Host& host() const { return host_; }
  // Loads here what is loaded there, where it has the same name; what was unloaded there is so here. That may take long: what is unloaded
  // there meanwhile is so here after UnloadAsIn. Why one does not load: then it would be served no more.
  Outcome<void> LoadAsIn(const Repository& other);
  void UnloadAsIn(const Repository& other);

 private:
  // Whether there is such a model, for this tenant, and nobody unloaded it.
  Outcome<void> CheckNamed(const Tenant& tenant, const std::string& model) const;
  void ReadNames();
  Outcome<void> CheckControl(const Tenant& tenant, const std::string& model) const;
  Outcome<void> CheckLoaded(const std::string& model) const;
  void LetGoIfUnloaded(const std::string& model);

  using Reasons = std::map<std::pair<std::string, uint32_t>, std::string>;
  Reasons Rejected() const {
    const std::lock_guard lock(mutex_);
    return rejected_;
  }

  const RepositorySettings settings_;
  Host host_;
  KnownModels models_;
  mutable std::mutex mutex_;     // of what follows
  std::set<std::string> names_;  // of the host's models
  std::set<std::string> unloaded_;
  Reasons rejected_;                                 // versions whose new files do not load, and why
  std::chrono::steady_clock::time_point next_scan_;  // of Upkeep
};

}  // namespace wasinn::serve
