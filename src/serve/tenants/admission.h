// The resources of a request while it is being answered.
#pragma once

#include <memory>
#include <utility>

#include "serve/tenants/tenant.h"

namespace wasinn::serve {

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
