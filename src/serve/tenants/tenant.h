// Who infers: a guest of the host without a program, whose limits and policy are those of all that its clients do.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <wasinn/wasinn.hpp>

#include "serve/models/known_models.h"
#include "serve/models/model_contexts.h"
#include "serve/oip/inference.h"
#include "serve/tenants/guest_settings.h"
#include "serve/tenants/memory_budget.h"
#include "serve/threads/cancellation.h"
#include "serve/threads/completion.h"
#include "serve/threads/fair_queue.h"

namespace wasinn::serve {

struct TenantOptions {
  std::string name;
  bool is_alone = true;                  // nobody needs a key
  bool is_operator = true;               // may load and unload models, and sees what the server does
  size_t max_requests = 0;               // of its own at once; 0: any number
  std::shared_ptr<MemoryBudget> budget;  // of its requests and responses
};

// For who is none.
inline Failure ForOperators() { return {WASINN_ERROR_SECURITY, "only a tenant that is an operator may do that"}; }

// Any thread.
class Tenant {
 public:
  // Host and models outlive it.
  static Outcome<std::unique_ptr<Tenant>> Make(const Host& host, KnownModels& models, GuestSettings settings,
                                               TenantOptions options);

  const std::string& name() const { return options_.name; }
  bool is_operator() const { return options_.is_operator; }
  const GuestSettings& settings() const { return settings_; }
  const Share& share() const { return share_; }
  const std::shared_ptr<MemoryBudget>& budget() const { return options_.budget; }
  // Whether there is a model of this name for it: others' are as if they were not.
  bool Sees(const std::string& model) const { return settings_.MayUse(model); }

  // One of its requests, while it is under way. The tenant outlives it.
  class Place {
   public:
    Place() = default;
    explicit Place(Tenant& tenant) : tenant_(&tenant) {}
    Place(Place&& other) noexcept : tenant_(std::exchange(other.tenant_, nullptr)) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(tenant_, other.tenant_);
      return *this;
    }
    ~Place() {
      if (tenant_ != nullptr) tenant_->n_requests_.fetch_sub(1, std::memory_order_relaxed);
    }

   private:
    Tenant* tenant_ = nullptr;
  };
  // Nothing: it has as many as it may.
  std::optional<Place> Enter();

  // What it returns may go after it. NULL: nobody cancels it.
  Outcome<InferResponse> Infer(const InferRequest& request, Cancellation* cancellation);
  // Likewise. Its first token is there.
  Outcome<std::unique_ptr<Completion>> Complete(const std::string& model, const std::string& version,
                                                const Prompt& prompt, Cancellation* cancellation);
  // Loads the model if nobody did.
  Outcome<TextLimits> LimitsOf(const std::string& model, const std::string& version);
  // Cancels what runs. Nothing begins any more.
  void Stop() { guest_->Stop(); }

 private:
  Tenant(Guest guest, KnownModels& models, GuestSettings settings, TenantOptions options);
  // Another model may have this name now.
  void Forget(const std::string& model);
  std::shared_ptr<ModelContexts> ContextsOf(const std::string& model, const std::string& version);
  // `begin` once more, where what rests may be what there was no room for.
  template <typename Begin>
  auto WithRoom(const Begin& begin) {
    auto begun = begin();
    if (begun || begun.error().code != WASINN_ERROR_TOO_LARGE || !resting_.DropAll()) return begun;
    return begin();
  }
  // The same, and again where the worker of the model ended meanwhile, by this call or by one beside it: none of its results
  // was shown. Beside other tenants twice, for the first one may have had a context that they had lost before. These go one
  // after the other, so that one that ends the worker again takes few others with it.
  template <typename Begin>
  auto InWorker(const KnownModel& model, const std::string& name, const Begin& begin) {
    auto begun = WithRoom(begin);
    for (int left = options_.is_alone ? 1 : 2; !begun && begun.error().code == WASINN_ERROR_LOST; --left) {
      const std::lock_guard one_at_a_time(model.again);
      Forget(name);  // contexts that rest were lost, too
      if (left == 0) break;
      begun = WithRoom(begin);
    }
    return begun;
  }
  Outcome<InferResponse> TryInfer(const KnownModel& model, const InferRequest& request, Cancellation* cancellation);

  const GuestSettings settings_;
  const TenantOptions options_;
  const Share share_;
  std::atomic<size_t> n_requests_{0};
  const std::shared_ptr<Guest> guest_;
  KnownModels& models_;
  RestingContexts resting_;
  std::mutex mutex_;
  std::map<std::string, std::map<std::string, std::shared_ptr<ModelContexts>>> contexts_;  // by model and version
  const KnownModels::Listener listener_;  // last: it calls Forget until it goes
};

}  // namespace wasinn::serve
