// Who infers: a guest of the host without a program, whose limits and policy are those of all that its clients do.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <wasinn/wasinn.hpp>

#include "serve/cancellation.h"
#include "serve/inference.h"
#include "serve/known_models.h"
#include "serve/model_contexts.h"

namespace wasinn::serve {

// Any thread.
class Tenant {
 public:
  // Both outlive it.
  static Outcome<std::unique_ptr<Tenant>> Make(const Host& host, KnownModels& models, const std::string& name);

  // What it returns may go after it. NULL: nobody cancels it.
  Outcome<InferResponse> Infer(const InferRequest& request, Cancellation* cancellation);
  // Another model may have this name now.
  void Forget(const std::string& model);
  // Cancels what runs. Nothing begins any more.
  void Stop() { guest_->Stop(); }

 private:
  Tenant(Guest guest, KnownModels& models);
  std::shared_ptr<ModelContexts> ContextsOf(const std::string& model, const std::string& version);
  Outcome<InferResponse> TryInfer(const KnownModel& model, const InferRequest& request, Cancellation* cancellation);

  const std::shared_ptr<Guest> guest_;
  KnownModels& models_;
  RestingContexts resting_;
  std::mutex mutex_;
  std::map<std::string, std::map<std::string, std::shared_ptr<ModelContexts>>> contexts_;  // by model and version
};

}  // namespace wasinn::serve
