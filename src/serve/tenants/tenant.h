// A tenant: a guest of the host without a program, whose limits and policy hold for all its clients together.
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
#include "serve/tenants/memory_budget.h"
#include "serve/threads/cancellation.h"
#include "serve/threads/completion.h"
#include "serve/threads/fair_queue.h"
#include "settings/outbound_hosts.h"

namespace wasinn::serve {

struct ServeOptions;

// Limits and permissions of guests: the configuration's [limits] and [policy], and perhaps a tenant's own. Thread-safe.
class GuestSettings {
 public:
  // `more`: TOML that overrides the options' file and flags. INVALID_ARGUMENT names the key.
  static GuestSettings Make(const ServeOptions& options, const std::string& more = "");

  const Limits& limits() const { return limits_; }
  const Policy& policy() const { return policy_; }
  const settings::OutboundHosts& outbound_hosts() const { return outbound_; }
  EngineLimits engine_limits() const { return host_.engine_limits(); }
  EngineOptions engine() const { return host_.engine_options(); }
  // Whether the policy has this name, or a version of it ("m:1").
  bool MayUse(const std::string& model) const;

 private:
  GuestSettings(Host host, Policy policy, settings::OutboundHosts outbound)
      : host_(std::move(host)), limits_(host_.limits()), policy_(std::move(policy)), outbound_(std::move(outbound)) {}

  Host host_;  // without models: it reads the settings
  Limits limits_;
  Policy policy_;
  settings::OutboundHosts outbound_;
};

struct TenantOptions {
  std::string name;
  bool is_alone = true;                  // no key is needed
  bool has_keys = false;                 // it is not that of requests without a key
  bool is_operator = true;               // may load and unload models, and sees the server's state
  size_t max_requests = 0;               // of its own at once; 0: no limit
  std::shared_ptr<MemoryBudget> budget;  // for its requests and responses
};

// For tenants that are no operators.
inline Failure ForOperators() { return {WASINN_ERROR_SECURITY, "only a tenant that is an operator may do that"}; }

// Thread-safe.
class Tenant {
 public:
  // Host and models outlive it.
  static std::unique_ptr<Tenant> Make(const Host& host, KnownModels& models, GuestSettings settings,
                                      TenantOptions options);

  const std::string& name() const { return options_.name; }
  bool is_operator() const { return options_.is_operator; }
  const GuestSettings& settings() const { return settings_; }
  const Share& share() const { return share_; }
  // For its requests to routes. NULL for requests without a key: strangers do not count as one.
  wasinn_guest* guest() const { return options_.has_keys ? guest_->get() : nullptr; }
  const std::shared_ptr<MemoryBudget>& budget() const { return options_.budget; }
  // Whether it may see a model of this name.
  bool Sees(const std::string& model) const { return settings_.MayUse(model); }

  // One of its current requests. The tenant outlives it.
  struct Leave {
    void operator()(Tenant* tenant) const { tenant->n_requests_.fetch_sub(1, std::memory_order_relaxed); }
  };
  using Place = std::unique_ptr<Tenant, Leave>;
  // No value: it has reached its limit.
  std::optional<Place> Enter();

  // The result may outlive the tenant. NULL: never cancelled.
  InferResponse Infer(const InferRequest& request, Cancellation* cancellation);
  // The same. Its first token is there.
  std::unique_ptr<Completion> Complete(const std::string& model, const std::string& version, const Prompt& prompt,
                                       Cancellation* cancellation);
  // Loads the model if necessary.
  TextLimits LimitsOf(const std::string& model, const std::string& version);
  // Cancels current computes, and begins no more.
  void Stop() { guest_->Stop(); }

 private:
  Tenant(Guest guest, KnownModels& models, GuestSettings settings, TenantOptions options);
  // Another model may have this name now.
  void Forget(const std::string& model);
  std::shared_ptr<ModelContexts> ContextsOf(const std::string& model, const std::string& version);
  // Calls `begin` again if idle contexts may have taken the room.
  template <typename Begin>
  auto WithRoom(const Begin& begin) {
    auto begun = Try(begin);
    if (begun || begun.error().code != WASINN_ERROR_TOO_LARGE || !idle_.DropAll()) return begun;
    return Try(begin);
  }
  // As above, and again if the model's worker ended in the meantime, in this call or in a concurrent one: no result was
  // shown yet. With other tenants twice, because the first attempt may have had a context that they had lost before.
  // These retries run one after the other, so that one that ends the worker again affects few others.
  template <typename Begin>
  auto InWorker(const KnownModel& model, const std::string& name, const Begin& begin) {
    auto begun = WithRoom(begin);
    for (int left = options_.is_alone ? 1 : 2; !begun && begun.error().code == WASINN_ERROR_LOST; --left) {
      const std::lock_guard one_at_a_time(model.again);
      Forget(name);  // idle contexts were lost, too
      if (left == 0) break;
      begun = WithRoom(begin);
    }
    if (!begun) AddressToClient(begun.error());
    return OrThrow(std::move(begun));
  }
  // For a lost worker, which a client cannot load again.
  static void AddressToClient(Failure& failure);
  InferResponse TryInfer(const KnownModel& model, const InferRequest& request, Cancellation* cancellation);

  const GuestSettings settings_;
  const TenantOptions options_;
  const Share share_;
  std::atomic<size_t> n_requests_{0};
  const std::shared_ptr<Guest> guest_;
  KnownModels& models_;
  IdleContexts idle_;
  std::mutex mutex_;
  std::map<std::string, std::map<std::string, std::shared_ptr<ModelContexts>>> contexts_;  // by model and version
  const KnownModels::Listener listener_;  // last: it calls Forget until it is destroyed
};

class Generation;

struct Admission {
  std::shared_ptr<Generation> generation;
  Tenant* tenant = nullptr;  // of the generation
  Tenant::Place place;       // destroyed before both

  Admission() = default;
  Admission(std::shared_ptr<Generation> of, Tenant* whose, Tenant::Place its)
      : generation(std::move(of)), tenant(whose), place(std::move(its)) {}
  Admission(Admission&& other) noexcept
      : generation(std::move(other.generation)),
        tenant(std::exchange(other.tenant, nullptr)),
        place(std::move(other.place)) {}
  // The old members are destroyed in the same order.
  Admission& operator=(Admission&& other) noexcept {
    Admission taken(std::move(other));
    std::swap(generation, taken.generation);
    std::swap(tenant, taken.tenant);
    std::swap(place, taken.place);
    return *this;
  }
  ~Admission() = default;
};

}  // namespace wasinn::serve
