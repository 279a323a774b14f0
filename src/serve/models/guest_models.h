// Guests that are models: components that export wasinn:serve/model, of which each inference has an instance of its own.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <wasinn/wasinn.hpp>

#include "engines/guest_model.h"
#include "serve/file_settings.h"
#include "serve/models/statistics.h"
#include "serve/oip/inference.h"
#include "serve/routes/guest_runs.h"
#include "serve/tenants/memory_budget.h"
#include "serve/tenants/tenant.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

struct GuestModelOptions {
  std::map<std::string, GuestFile> files;  // by name: components
  GuestCode code;
};

// Any thread.
class GuestModels {
 public:
  // Of every one.
  static constexpr char kVersion[] = "1";

  // Compiles every file, and has each component describe itself within the settings of `tenant`. `host` outlives it.
  static Outcome<std::unique_ptr<GuestModels>> Load(const Host& host, const Tenant& tenant, GuestModelOptions options,
                                                    std::shared_ptr<Statistics> statistics);

  // Whether the name is one of theirs; these never change.
  bool Has(const std::string& model) const { return options_.files.contains(model); }
  std::vector<std::string> names() const;
  // What one of them takes and gives. NOT_FOUND: there is no such version; UNAVAILABLE: it is unloaded.
  Outcome<std::shared_ptr<const engines::ModelIos>> Find(const std::string& model, const std::string& version) const;
  Outcome<InferResponse> Infer(const Tenant& tenant, const InferRequest& request, Cancellation* cancellation);
  // From its file as it is now. What runs goes on as it was.
  Outcome<void> Load(const Tenant& tenant, const std::string& model);
  void Unload(const std::string& model);
  void UnloadAsIn(const GuestModels& other);

  // Who infers: other threads than those of models, which are computed whatever guests do.
  Workers& workers() { return workers_; }
  // Ends what runs, and begins nothing any more.
  void Stop() { runs_.Stop(); }

 private:
  struct Loaded {
    std::unique_ptr<const engines::GuestModel> program;
    engines::ModelIos ios;
  };

  GuestModels(const Host& host, GuestModelOptions options, std::shared_ptr<Statistics> statistics);
  // To its end; or why it was not.
  Outcome<void> Run(const std::string& model, const Tenant& tenant, Cancellation* cancellation,
                    const GuestRuns::Program& run);
  Outcome<std::shared_ptr<const Loaded>> Get(const std::string& model, const std::string& version) const;
  Outcome<InferResponse> InferNow(const Loaded& loaded, const Tenant& tenant, const InferRequest& request,
                                  Cancellation* cancellation);
  struct Room;
  Outcome<std::vector<OutputTensor>> ToOutputs(const Loaded& loaded, const InferRequest& request,
                                               engines::ModelAnswer answer, Room room) const;

  const GuestModelOptions options_;
  const std::shared_ptr<Statistics> statistics_;
  // The settings with the policy of each; NULL: the asking tenant's.
  std::map<std::string, std::unique_ptr<const GuestSettings>> own_;
  std::unique_ptr<engines::ModelEngine> engine_;
  GuestRuns runs_;
  mutable std::mutex mutex_;                                     // of what follows
  std::map<std::string, std::shared_ptr<const Loaded>> loaded_;  // NULL: it is unloaded
  Workers workers_;                                              // last: it uses all the others
};

}  // namespace wasinn::serve
