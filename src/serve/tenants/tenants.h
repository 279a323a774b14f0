// The tenants of a configuration, by their keys.
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "serve/file_settings.h"
#include "serve/models/repository.h"
#include "serve/tenants/tenant.h"

namespace wasinn::serve {

// Thread-safe.
class Tenants {
 public:
  // The repository outlives it. `budget`: for all of them together. Throws Failure.
  Tenants(const ServeOptions& options, Repository& repository, std::shared_ptr<MemoryBudget> budget);

  bool need_keys() const { return !by_key_.empty(); }
  // The tenant of a key, from `Authorization`: "Bearer KEY"; the first one if no key is needed. NULL: unknown.
  Tenant* Find(std::string_view authorization) const;
  // The tenant of requests without a key, if they are allowed.
  Tenant& keyless() const { return *tenants_.front(); }
  // Whether a tenant's guests have a limit of fuel.
  bool meter() const;
  size_t size() const { return tenants_.size() - 1; }
  // Cancels current computes.
  void Stop();

 private:
  std::vector<std::unique_ptr<Tenant>> tenants_;  // the first one: for requests without a key
  std::map<KeyDigest, Tenant*> by_key_;
};

}  // namespace wasinn::serve
