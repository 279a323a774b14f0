// One reading of the configuration: models, tenants and routes. A request keeps the generation in which it began.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

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

// Thread-safe.
class Generation {
 public:
  ~Generation();

  // Used by all generations.
  struct Shared {
    std::shared_ptr<Statistics> statistics;
    std::shared_ptr<MemoryBudget> budget;
    Workers::Limits workers;  // for threads that run guests, and those that generate texts
  };

  // `last` (NULL: none) lends its models, if their settings are the same; else its loaded models are loaded again. This
  // may take long, and so may the destructor. Throws Failure.
  static std::unique_ptr<Generation> Make(ServeOptions options, const Shared& shared, const Generation* last);

  const ServeOptions& options() const { return *options_; }
  // From 1 on, in order of creation.
  uint64_t number() const { return number_; }
  Repository& repository() const { return *repository_; }
  Catalog& models() const { return *models_; }
  TextModels& texts() const { return *texts_; }
  const Tenants& tenants() const { return *tenants_; }
  Routes* routes() const { return routes_.get(); }  // NULL: there are none
  // Call it now and then.
  void Sweep();
  // Cancels computes, and ends guests.
  void Stop();
  // Call it after Stop, once there are no requests: waits for the guests.
  void End();

 private:
  Generation() = default;
  void MakeRepository(const Shared& shared, const Generation* last);
  GuestCode CodeOf(const Shared& shared) const;
  void MakeGuestModels(const Shared& shared);
  // Models that were unloaded stay unloaded.
  void UnloadAsIn(const Generation& last);
  // Warns of names that are probably forgotten or misspelt.
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

// Thread-safe. It outlives its generations.
class Reloader {
 public:
  // `reload` is called once for all earlier requests, and returns whether there is a new generation. `upkeep` is called
  // on the other thread every second, and with true after such a reload.
  Reloader(std::function<bool()> reload, std::function<void(bool)> upkeep);
  ~Reloader();
  Reloader(const Reloader&) = delete;
  Reloader& operator=(const Reloader&) = delete;

  void Ask();
  // Releasing the last reference does not block.
  std::shared_ptr<Generation> Keep(std::unique_ptr<Generation> generation);
  // Begins nothing any more. A running job goes on, perhaps for long: the process does not wait for it.
  void Abandon();
  // Whether a reload or the upkeep runs, or a generation is being destroyed.
  bool is_busy() const;
  // As Abandon, but waits for running jobs.
  void Stop();

 private:
  void Serve();
  void Tend();
  // Runs the job without the lock; `is_running` is true meanwhile.
  static void Do(std::unique_lock<std::mutex>& lock, bool& is_running, const std::function<void()>& job);
  void Bury(Generation* generation) noexcept;
  static void EndAll(Generation* dead);

  const std::function<bool()> reload_;
  const std::function<void(bool)> upkeep_;
  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  bool is_asked_ = false, is_reloaded_ = false, is_stopped_ = false, reloads_ = false, tends_ = false;
  Generation* dead_ = nullptr;           // a list
  std::jthread reload_thread_, tender_;  // last: they use all the others
};

}  // namespace wasinn::serve
