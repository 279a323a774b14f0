// The tenants of a configuration, by their keys; and the gate, which decides which clients may send requests.
#pragma once

#include <expected>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "serve/file_settings.h"
#include "serve/models/repository.h"
#include "serve/oip/inference.h"
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

// Why a request was not admitted.
struct Refusal {
  bool needs_key;
  Failure failure;
};

// Thread-safe.
class Gate {
 public:
  // The generation of new requests from here on.
  void Open(std::shared_ptr<Generation> generation);
  std::shared_ptr<Generation> current() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }
  // `authorization`: "Bearer KEY"; "": none was given.
  std::expected<Admission, Refusal> Admit(std::string_view authorization) const {
    return Admit(current(), authorization);
  }
  static std::expected<Admission, Refusal> Admit(std::shared_ptr<Generation> generation,
                                                 std::string_view authorization);
  // For requests that need no key.
  static Admission AdmitWithoutKey(std::shared_ptr<Generation> generation);

  // The generations that requests still hold, including the current one.
  std::vector<std::shared_ptr<Generation>> All() const;

 private:
  mutable std::mutex mutex_;  // guards the members below
  std::shared_ptr<Generation> current_;
  std::vector<std::weak_ptr<Generation>> earlier_;
};

}  // namespace wasinn::serve
