#include "serve/tenants/gate.h"

#include <fmt/format.h>

namespace wasinn::serve {

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
