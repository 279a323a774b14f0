// Decides which clients may send requests, and for which models.
#pragma once

#include <expected>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "serve/generation.h"
#include "serve/oip/inference.h"
#include "serve/tenants/tenant.h"

namespace wasinn::serve {

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
