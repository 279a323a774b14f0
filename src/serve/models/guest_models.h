// Guests that are models: components that export wasinn:serve/model. Each inference runs in an instance of its own.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <wasinn/wasinn.hpp>

#include "engines/guest_model.h"
#include "serve/file_settings.h"
#include "serve/models/statistics.h"
#include "serve/oip/inference.h"
#include "serve/routes/guest_runs.h"
#include "serve/tenants/tenant.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

struct GuestModelOptions {
  std::map<std::string, GuestFile> files;  // components, by name
  GuestCode code;
};

// Thread-safe.
class GuestModels {
 public:
  // For all of them.
  static constexpr char kVersion[] = "1";

  // Compiles every file, and lets each component describe itself within the settings of `tenant`. `host` outlives it.
  // Throws Failure.
  GuestModels(const Host& host, const Tenant& tenant, GuestModelOptions options,
              std::shared_ptr<Statistics> statistics);

  // Whether it is the name of one; the names never change.
  bool Has(const std::string& model) const { return options_.files.contains(model); }
  const std::map<std::string, GuestFile>& files() const { return options_.files; }  // by name
  struct Loaded {
    std::unique_ptr<const engines::GuestModel> program;
    engines::ModelIos ios;
  };
  // NOT_FOUND: there is no such version; UNAVAILABLE: it is unloaded.
  std::shared_ptr<const Loaded> Find(const std::string& model, const std::string& version) const;
  // NULL: it is unloaded.
  std::shared_ptr<const Loaded> Look(const std::string& model) const;
  InferResponse Infer(const Tenant& tenant, const InferRequest& request, Cancellation* cancellation);
  // Loads its file again. Current runs go on unchanged.
  void Load(const Tenant& tenant, const std::string& model);
  void Unload(const std::string& model);
  void UnloadAsIn(const GuestModels& other);

  // The threads for inferences, separate from those of models, which are computed whatever guests do.
  Workers& workers() { return workers_; }
  // Ends current runs, and begins no more.
  void Stop() { runs_.Stop(); }

 private:
  // Runs to the end; or the reason why not.
  void Run(const std::string& model, const Tenant& tenant, Cancellation* cancellation, const GuestRuns::Program& run);
  InferResponse InferNow(const Loaded& loaded, const Tenant& tenant, const InferRequest& request,
                         Cancellation* cancellation);
  struct Room;
  std::vector<OutputTensor> ToOutputs(const Loaded& loaded, const InferRequest& request, engines::ModelAnswer answer,
                                      Room room) const;

  const GuestModelOptions options_;
  const std::shared_ptr<Statistics> statistics_;
  // The settings with each guest's policy; NULL: the asking tenant's.
  std::map<std::string, std::unique_ptr<const GuestSettings>> own_;
  std::unique_ptr<engines::ModelEngine> engine_;
  GuestRuns runs_;
  mutable std::mutex mutex_;                                     // guards the members below
  std::map<std::string, std::shared_ptr<const Loaded>> loaded_;  // NULL: it is unloaded
  Workers workers_;                                              // last: it uses all the others
};

// Clients and guests may send anything. Checks that a guest's description is a model's: INVALID_ARGUMENT has the reason.
void CheckIos(const engines::ModelIos& ios);

// The arguments of `infer` for a request. The result points to the request and to `shapes`, which this fills.
engines::ModelRequest ToModelRequest(const engines::ModelIos& ios, const InferRequest& request,
                                     std::vector<std::vector<uint64_t>>& shapes);

// The requested outputs of its answer, whose owner they share. RUNTIME_ERROR: it does not match the description.
std::vector<OutputTensor> TakeOutputs(const engines::ModelIos& ios, const std::vector<std::string>& wanted,
                                      const engines::ModelAnswer& answer);

const Datatype& DatatypeOf(const engines::ModelIo& io);

}  // namespace wasinn::serve
