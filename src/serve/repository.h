// The models that are served, by the words of Triton's model repository.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "serve/known_models.h"
#include "serve/tenant.h"

namespace wasinn::serve {

// Any thread.
class Repository {
 public:
  explicit Repository(Host host);
  ~Repository();
  Repository(const Repository&) = delete;
  Repository& operator=(const Repository&) = delete;

  // Whoever infers. Before anything else is called.
  Outcome<void> Open();

  // Whether there is such a model, and nobody unloaded it. Loads nothing.
  Outcome<void> CheckServed(const std::string& model, const std::string& version) const;
  // Loads the model if nobody did; not one that somebody unloaded. So does what follows.
  Outcome<std::shared_ptr<const KnownModel>> Find(const std::string& model, const std::string& version);
  // NULL: nobody cancels it.
  Outcome<InferResponse> Infer(const InferRequest& request, Cancellation* cancellation);
  // Whether that takes so short a time for a request of so many bytes, going by the last ones, that no other thread is worth its wake-up.
  bool IsQuick(const std::string& model, const std::string& version, size_t bytes) const;
  Outcome<nlohmann::json> Metadata(const std::string& model, const std::string& version);
  Outcome<nlohmann::json> Config(const std::string& model, const std::string& version);
  nlohmann::json Index(bool ready_alone) const;
  // From its files as they are now.
  Outcome<void> Load(const std::string& model);
  Outcome<void> Unload(const std::string& model);

  const Host& host() const { return host_; }
  // Cancels what computes.
  void Stop();

 private:
  void Forget(const std::string& model);
  Outcome<void> CheckLoaded(const std::string& model) const;
  void LetGoIfUnloaded(const std::string& model);

  Host host_;
  KnownModels models_;
  std::unique_ptr<Tenant> tenant_;
  mutable std::mutex mutex_;
  std::set<std::string> unloaded_;
};

}  // namespace wasinn::serve
