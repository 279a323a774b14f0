// The models that clients see: those of the repository, and guests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "serve/models/guest_models.h"
#include "serve/models/repository.h"

namespace wasinn::serve {

// Thread-safe. See Repository for functions without a comment.
class Catalog {
 public:
  // `guests`: NULL: there are none. Both outlive it.
  Catalog(Repository& models, GuestModels* guests) : models_(models), guests_(guests) {}

  void CheckServed(const Tenant& tenant, const std::string& model, const std::string& version) const;
  bool IsLoaded(const Tenant& tenant, const std::string& model, const std::string& version) const;
  // Whether it can be used: it is loaded, or its first request will load it, as far as is known. Loads nothing.
  void LookReady(const Tenant& tenant, const std::string& model, const std::string& version) const;
  // Loads the model if necessary.
  void CheckReady(const Tenant& tenant, const std::string& model, const std::string& version);
  InferResponse Infer(Tenant& tenant, const InferRequest& request, Cancellation* cancellation);
  // A text of a language model. Its first token is there.
  std::unique_ptr<Completion> Complete(Tenant& tenant, const std::string& model, const std::string& version,
                                       const Prompt& prompt, Cancellation* cancellation);
  // UNSUPPORTED_OPERATION: it is no language model. Loads it if necessary.
  TextLimits CheckGenerates(Tenant& tenant, const std::string& model, const std::string& version);
  // Whether it is known to be a language model, as it is once it is loaded.
  bool Generates(const std::string& model, const std::string& version) const;
  // Whether any tenant has a model of this name.
  bool Knows(const std::string& model) const { return IsGuest(model) || models_.Knows(model); }
  // The number of a version; "": the highest.
  std::string VersionOf(const std::string& model, const std::string& version) const;
  // The tenant's known language models. Loads nothing.
  std::vector<ModelInfo> LanguageModels(const Tenant& tenant) const;
  // The models on servers with OpenAI's API, of all tenants.
  std::vector<ModelInfo> Remote() const;
  bool IsQuick(const std::string& model, const std::string& version, size_t bytes) const;
  nlohmann::json Metadata(const Tenant& tenant, const std::string& model, const std::string& version);
  nlohmann::json Config(const Tenant& tenant, const std::string& model, const std::string& version);
  nlohmann::json Index(const Tenant& tenant, bool ready_alone) const;
  nlohmann::json Overview(const Tenant& tenant, size_t most) const;
  size_t size(const Tenant& tenant) const;
  // The place in which its load or unload waits and runs; throws if there is none. Names that may be new share one.
  Place PlaceOfLoad(const Tenant& tenant, const std::string& model) const;
  Place PlaceOfUnload(const Tenant& tenant, const std::string& model) const;
  void Load(const Tenant& tenant, const std::string& model);
  void Unload(const Tenant& tenant, const std::string& model);

  // The workers for this model's inferences; `usual` for models of the repository.
  Workers& WorkersFor(const std::string& model, Workers& usual) const {
    return IsGuest(model) ? guests_->workers() : usual;
  }

 private:
  bool IsGuest(const std::string& model) const { return guests_ != nullptr && guests_->Has(model); }
  void CheckControl(const Tenant& tenant, const std::string& model) const;
  std::shared_ptr<const GuestModels::Loaded> FindGuest(const Tenant& tenant, const std::string& model,
                                                       const std::string& version) const;

  Repository& models_;
  GuestModels* const guests_;
};

}  // namespace wasinn::serve
