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

// Any thread.
class Tenants {
 public:
  // The repository outlives it. `budget`: of all of them.
  static Outcome<std::unique_ptr<Tenants>> Make(const ServeOptions& options, Repository& repository,
                                                std::shared_ptr<MemoryBudget> budget);

  bool need_keys() const { return !by_key_.empty(); }
  // Whose key this is, as `Authorization` has it: "Bearer KEY". Where nobody needs a key, anybody's. NULL: it is nobody's.
  Tenant* Find(std::string_view authorization) const;
  // Who asks without a key, where that may be.
  Tenant& anybody() const { return *tenants_.front(); }
  // Whether some tenant's guests have a limit of fuel.
  bool meter() const;
  size_t size() const { return tenants_.size() - 1; }
  // Cancels what computes.
  void Stop();

 private:
  Tenants() = default;

  std::vector<std::unique_ptr<Tenant>> tenants_;  // the first one: anybody
  std::map<KeyDigest, Tenant*> by_key_;
};

}  // namespace wasinn::serve
