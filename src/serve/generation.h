// What one reading of the configuration made: models, tenants and routes. A request keeps the generation that it began with.
#pragma once

#include <cstdint>
#include <memory>

#include "serve/models/catalog.h"
#include "serve/models/guest_models.h"
#include "serve/models/repository.h"
#include "serve/models/statistics.h"
#include "serve/models/text_models.h"
#include "serve/routes/routes.h"
#include "serve/tenants/tenants.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

struct ServeOptions;

// Any thread.
class Generation {
 public:
  ~Generation();

  // What all of them use.
  struct Shared {
    std::shared_ptr<Statistics> statistics;
    std::shared_ptr<MemoryBudget> budget;
    Workers::Limits workers;  // of those that run guests, and of those that generate texts
  };

  // `last` (NULL: none) lends its models, where the settings of these are the same; else what it has loaded is loaded anew. This may
  // take long, and so may its end.
  static Outcome<std::unique_ptr<Generation>> Make(ServeOptions options, const Shared& shared, const Generation* last);

  const ServeOptions& options() const { return *options_; }
  // From 1 on, in the order in which they were made.
  uint64_t number() const { return number_; }
  Repository& repository() const { return *repository_; }
  Catalog& models() const { return *models_; }
  TextModels& texts() const { return *texts_; }
  const Tenants& tenants() const { return *tenants_; }
  Routes* routes() const { return routes_.get(); }  // NULL: there are none
  // To be called now and then.
  void Sweep();
  // Cancels what computes, and ends guests.
  void Stop();
  // After that, once nobody asks: waits for the guests.
  void End();

 private:
  Generation() = default;
  Outcome<void> MakeRepository(const Shared& shared, const Generation* last);
  GuestCode CodeOf(const Shared& shared) const;
  Outcome<void> MakeRoutes(const Shared& shared);
  Outcome<void> MakeGuestModels(const Shared& shared);
  // What somebody unloaded stays so.
  void UnloadAsIn(const Generation& last);
  // Of what is most likely forgotten or misspelt.
  void WarnOfNames() const;

  uint64_t number_ = 1;
  std::unique_ptr<const ServeOptions> options_;
  std::shared_ptr<Repository> repository_;
  std::unique_ptr<Tenants> tenants_;
  std::unique_ptr<Routes> routes_;
  std::unique_ptr<GuestModels> guest_models_;  // NULL: there are none
  std::unique_ptr<Catalog> models_;
  std::unique_ptr<TextModels> texts_;

  friend class Reloader;
  Generation* next_dead_ = nullptr;
};

}  // namespace wasinn::serve
