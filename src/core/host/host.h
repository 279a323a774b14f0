// Everything that the guests of one OS process share.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/host/host_options.h"
#include "core/inference/async_compute.h"
#include "core/inference/scheduler.h"
#include "core/memory/buffer_pool.h"
#include "core/memory/quota.h"
#include "core/metrics/metrics.h"
#include "core/models/backend_loader.h"
#include "core/models/model_files.h"
#include "core/models/model_registry.h"
#include "core/models/workers.h"
#include "core/runtime/executor.h"
#include "core/runtime/large_stacks.h"
#include "core/runtime/log.h"
#include "core/runtime/watchdog.h"

namespace wasinn::core {

class Guest;

// The open guests of a host, and the totals of the closed ones. Thread-safe. A guest leaves before it is destroyed.
class Guests {
 public:
  void Join(const Guest& guest);
  // Adds the guest's work to the totals. May be called again.
  void Leave(const Guest& guest) noexcept;

  // Sums over all guests. "Held" sums are over open guests only.
  struct Sum {
    size_t open = 0;
    uint64_t graphs = 0, contexts = 0, tensors = 0, model_bytes = 0, tensor_bytes = 0;
    uint64_t copies_in = 0, copies_out = 0, bytes_in = 0, bytes_out = 0, model_bytes_copied = 0;
  };
  Sum Read() const;

 private:
  static void AddWhatItDid(const wasinn_statistics& stats, Sum& sum);

  mutable std::mutex mutex_;  // guards the members below
  std::set<const Guest*> open_;
  Sum closed_;
};

class Host {
 public:
  // Registers the models of the options, and compiles those with `preload`.
  static Result<std::shared_ptr<Host>> Create(HostOptions options, wasinn_log_fn log, void* user);

  Status AddModel(const ModelOptions& options);
  Status AddModels(const std::string& folder);
  ModelRegistry& models() { return models_; }
  Status RemoveModel(std::string_view name);
  // Compiles a model's files again; for "NAME" those of every version that its folder has now. Until all are done, and
  // if one fails, the name keeps its old models.
  Status Reload(std::string_view name);
  // A change in the folders and files of models, as for wasinn_host_rescan_models.
  using ModelChanged =
      std::function<void(const ModelSource& source, wasinn_model_change_kind kind, const std::string& why)>;
  void Rescan(const ModelChanged& notify);
  // The shared, compiled graph of a registered name. `wait` limits the wait for another caller's load or a worker.
  Result<std::shared_ptr<Graph>> LoadNamed(std::string_view name, const WaitOptions& wait, const GuestTag& loader = {});
  // As above, without a guest.
  Result<std::shared_ptr<Graph>> LoadNamed(std::string_view name) { return LoadNamed(name, OwnWaitOptions()); }
  // From now on, loads of the host itself end if they run in a worker. From any thread; does not block.
  void StopLoads() { stops_loads_.store(true, std::memory_order_release); }
  // As above, with a guest's configuration in `options`. If it changes how the model is compiled, the model is compiled
  // only for this guest, with the deadline and stop of `options`, and its bytes are charged.
  struct Configured {
    std::shared_ptr<const Graph> graph;
    std::string context_config;     // a JSON object for this guest's contexts; "": none
    std::vector<uint32_t> outputs;  // the outputs that they produce; none: all
  };
  Result<Configured> LoadNamed(std::string_view name, Graph::LoadOptions options, const Policy& guest_policy,
                               Reservation& bytes);
  // Compiles parts, in one of `workers` if there are any. Recognises the encoding from the bytes, or checks it.
  Result<std::shared_ptr<Graph>> LoadParts(std::span<const std::shared_ptr<const Blob>> parts,
                                           Graph::LoadOptions options, const WaitOptions& wait, Workers* workers);
  // As above, for a guest's own bytes, which the backend charges to `account`. Guests with the same bytes share a
  // graph, in this process or in workers that they share.
  Result<SharedGraphs::Shared> LoadBytes(std::span<const std::shared_ptr<const Blob>> parts, Graph::LoadOptions options,
                                         const WaitOptions& wait, const Policy& guest_policy, Workers* workers);

  BackendLoader& backends() { return backends_; }
  Watchdog& watchdog() { return watchdog_; }
  Scheduler& scheduler() { return scheduler_; }
  LargeStacks& stacks() { return stacks_; }
  Executor& executor() { return executor_; }
  // For computes that guests begin: has threads only for those that have their turn.
  AsyncCompute::Computers& computers() { return computers_; }
  // Called before such a compute: makes sure of a thread for it, and of one for its end.
  Status StartComputers() {
    RETURN_IF_ERROR(executor_.Start());
    return computing_.Start();
  }
  Tenants& tenants() { return tenants_; }
  BufferPool& buffers() { return *buffers_; }
  const Logger& logger() const { return logger_; }
  Metrics& metrics() { return metrics_; }
  Guests& guests() { return guests_; }
  // Limits the lines of the log about guests' errors, for all guests together; NULL: no limit.
  LogLimit* guest_lines() { return guest_lines_ ? &*guest_lines_ : nullptr; }
  // Limits the bytes of all guests together; NULL: no limit.
  const std::shared_ptr<Quota>& guest_bytes() const { return guest_bytes_; }
  const wasinn_limits& limits() const { return limits_; }
  const wasinn_engine_limits& engine_limits() const { return engine_limits_; }
  const wasinn_engine_options& engine_options() const { return engine_options_; }
  const Policy& policy() const { return policy_; }
  // The same in C; its lists live as long as the host.
  wasinn_policy policy_in_c() const;

 private:
  Host(HostOptions& options, wasinn_log_fn log, void* user);
  // Options that follow the host's own policy.
  Graph::LoadOptions OfHost() const {
    return {.cpu_fallback = policy_.cpu_fallback, .isolated_gpu = policy_.isolated_gpu};
  }
  WaitOptions WaitOptionsOf(const Graph::LoadOptions& options) { return {&watchdog_, options.deadline, options.stop}; }
  // A wait without a guest and without a deadline.
  WaitOptions OwnWaitOptions() { return {&watchdog_, std::chrono::milliseconds(0), &stops_loads_}; }
  std::chrono::milliseconds LoadDeadline() const { return std::chrono::milliseconds(limits_.load_timeout_ms); }
  Result<std::shared_ptr<Backend>> BackendOf(const ModelSource& source, const WaitOptions& wait);
  Result<wasinn_backend> TableOf(const ModelSource& source, const WaitOptions& wait);
  Result<std::shared_ptr<Graph>> LoadSource(const ModelSource& source, Graph::LoadOptions options,
                                            const WaitOptions& wait, Reservation* bytes = nullptr);
  Result<std::shared_ptr<Graph>> LoadBatched(const ModelSource& source, const WaitOptions& wait);
  Status CheckBytes(const std::string& format, const WaitOptions& wait = {});
  Status AddFiles(const ModelOptions& options);
  ModelSource SourceOf(const ModelOptions& options) const;
  // The current files of a model. NOT_FOUND if there are none.
  Result<std::vector<ModelSource>> FindSources(const std::shared_ptr<const ModelOptions>& origin);
  struct Found;
  std::vector<std::shared_ptr<const ModelOptions>> Origins(std::string_view name);
  Found LookAgain(const std::shared_ptr<const ModelOptions>& origin);
  void Rescan(const std::shared_ptr<const ModelOptions>& origin, const ModelChanged& notify);
  Result<std::shared_ptr<Graph>> Recompile(Model& model);
  Status SetAddress(ModelSource& source, const ModelOptions& options);
  Status AddPipeline(const ModelOptions& options);
  Result<std::shared_ptr<Graph>> LoadPipeline(const ModelSource& source, const WaitOptions& wait);
  Status WarmUpGraph(const std::shared_ptr<Graph>& graph, const ModelSource& source, const WaitOptions& wait);
  Result<std::shared_ptr<Graph>> LoadModel(Model& model, const WaitOptions& wait, const GuestTag& loader);
  Result<std::shared_ptr<Graph>> CompileModel(const ModelSource& source, const WaitOptions& wait,
                                              const GuestTag& loader);
  Result<std::shared_ptr<Model>> Prepare(ModelSource source);
  Status Register(ModelSource source);
  Result<std::vector<ModelFiles>> FindFiles(const std::string& path, const std::string& encoding);
  Result<std::shared_ptr<Graph>> Compile(std::span<const std::shared_ptr<const Blob>> parts,
                                         const Graph::LoadOptions& options, const WaitOptions& wait, Workers* workers);
  Result<std::string> ResolveFormat(const std::string& named, std::span<const uint8_t> bytes, const WaitOptions& wait);

  const Logger logger_;
  Metrics metrics_;  // before all members that count there
  Guests guests_;
  const wasinn_limits limits_;
  const wasinn_engine_limits engine_limits_;
  const wasinn_engine_options engine_options_;
  const Policy policy_;
  const std::vector<const char*> policy_model_names_, policy_encoding_names_, policy_outbound_hosts_;
  const bool isolate_models_;
  std::optional<LogLimit> guest_lines_;
  std::shared_ptr<Quota> guest_bytes_;
  std::atomic<bool> stops_loads_{false};
  Watchdog watchdog_;
  Scheduler scheduler_;
  LargeStacks stacks_;
  Executor executor_, computing_;
  Scheduler others_;  // of computes that take no turn by themselves, such as those of batches
  AsyncCompute::Computers computers_{computing_, Executor::Share(), others_};
  Tenants tenants_;
  const std::shared_ptr<BufferPool> buffers_;
  BackendLoader backends_;
  ModelRegistry models_;  // after the members that its graphs use
  SharedGraphs graphs_;
  std::mutex rescan_;                                         // held by one rescan at a time
  std::mutex origins_mutex_;                                  // guards the members below
  std::vector<std::string> model_dirs_;                       // folders in which new models may appear
  std::vector<std::shared_ptr<const ModelOptions>> origins_;  // models from files
  std::map<std::string, std::shared_ptr<Model>> rejected_;    // new versions that did not load; guarded by `rescan_`
};

}  // namespace wasinn::core
