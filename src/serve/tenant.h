// Who infers: a guest of the host without a program, whose limits and policy are those of all that its clients do.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <wasinn/wasinn.hpp>

#include "serve/inference.h"
#include "serve/known_models.h"
#include "serve/model_contexts.h"

namespace wasinn::serve {

// Any thread.
class Tenant {
 public:
  // Both outlive it.
  static Outcome<std::unique_ptr<Tenant>> Make(const Host& host, KnownModels& models, const std::string& name);

  Outcome<InferResponse> Infer(const InferRequest& request);
  // Another model may have this name now.
  void Forget(const std::string& model);
  // Cancels what runs. Nothing begins any more.
  void Stop() { guest_.Stop(); }

 private:
  Tenant(Guest guest, KnownModels& models) : guest_(std::move(guest)), models_(models) {}
  std::shared_ptr<ModelContexts> ContextsOf(const std::string& model, const std::string& version);

  Guest guest_;
  KnownModels& models_;
  std::mutex mutex_;
  std::map<std::string, std::map<std::string, std::shared_ptr<ModelContexts>>> contexts_;  // by model and version
};

}  // namespace wasinn::serve
