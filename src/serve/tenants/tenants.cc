#include "serve/tenants/tenants.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <utility>

#include "serve/generation.h"
#include "serve/server.h"

namespace wasinn::serve {

namespace {

constexpr std::string_view kScheme = "Bearer ";

}  // namespace

Tenants::Tenants(const ServeOptions& options, Repository& repository, std::shared_ptr<MemoryBudget> budget) {
  const bool is_alone = options.tenants.empty();
  // If there are several, none may use up everything.
  const size_t usual_requests =
      is_alone ? 0 : std::max<size_t>(1, options.max_connections.value_or(ServeOptions::kUsualConnections) / 2);
  const auto add = [&](const std::string& toml, TenantOptions of_tenant) {
    of_tenant.budget = is_alone ? budget : std::make_shared<MemoryBudget>(budget->most() / 2, budget);
    if (of_tenant.max_requests == 0) of_tenant.max_requests = usual_requests;
    GuestSettings settings = GuestSettings::Make(options, toml);
    tenants_.push_back(repository.NewTenant(std::move(settings), std::move(of_tenant)));
  };
  add("", {.name = is_alone ? "serve" : "", .is_alone = is_alone, .is_operator = is_alone});
  for (const auto& [name, settings] : options.tenants) {
    try {
      add(settings.guest_toml, {.name = name,
                                .is_alone = false,
                                .has_keys = true,
                                .is_operator = settings.is_operator,
                                .max_requests = settings.max_requests});
    } catch (const Failure& failure) {
      Throw(failure.code, "tenant '{}': {}", name, failure.message);
    }
    for (const KeyDigest& key : settings.keys) by_key_[key] = tenants_.back().get();
  }
}

Tenant* Tenants::Find(std::string_view authorization) const {
  if (!need_keys()) return &keyless();
  const bool has_scheme =
      authorization.size() > kScheme.size() && boost::beast::iequals(authorization.substr(0, kScheme.size()), kScheme);
  if (!has_scheme) return nullptr;
  const std::string_view key = authorization.substr(kScheme.size());
  KeyDigest digest;
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(key.data()), key.size());
  // The time of a look-up reveals digests, not keys.
  const auto found = by_key_.find(digest);
  return found == by_key_.end() ? nullptr : found->second;
}

bool Tenants::meter() const {
  return std::ranges::any_of(tenants_,
                             [](const auto& tenant) { return tenant->settings().engine_limits().max_fuel > 0; });
}

void Tenants::Stop() {
  for (const std::unique_ptr<Tenant>& tenant : tenants_) tenant->Stop();
}

void Gate::Open(std::shared_ptr<Generation> generation) {
  const std::lock_guard lock(mutex_);
  std::erase_if(earlier_, [](const auto& one) { return one.expired(); });
  if (current_ != nullptr) earlier_.push_back(current_);
  current_.swap(generation);
}

std::expected<Admission, Refusal> Gate::Admit(std::shared_ptr<Generation> generation, std::string_view authorization) {
  Tenant* const tenant = generation->tenants().Find(authorization);
  if (tenant == nullptr) {
    const char* const why = authorization.empty() ? "a key is needed: Authorization: Bearer KEY" : "the key is unknown";
    return std::unexpected(Refusal{true, {WASINN_ERROR_SECURITY, why}});
  }
  std::optional<Tenant::Place> place = tenant->Enter();
  if (!place) {
    return std::unexpected(Refusal{
        false, TryAgain(fmt::format("tenant '{}' has reached its limit of requests (max_requests)", tenant->name()))});
  }
  return Admission{std::move(generation), tenant, std::move(*place)};
}

Admission Gate::AdmitWithoutKey(std::shared_ptr<Generation> generation) {
  Tenant& tenant = generation->tenants().keyless();
  return {std::move(generation), &tenant, Tenant::Place()};
}

std::vector<std::shared_ptr<Generation>> Gate::All() const {
  std::vector<std::shared_ptr<Generation>> all;
  const std::lock_guard lock(mutex_);
  if (current_ != nullptr) all.push_back(current_);
  for (const std::weak_ptr<Generation>& one : earlier_) {
    if (auto lives = one.lock()) all.push_back(std::move(lives));
  }
  return all;
}

}  // namespace wasinn::serve
