// The host's named models. Names are only looked up here, and are never paths.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/models/graph.h"
#include "core/models/model_files.h"
#include "core/models/model_options.h"
#include "core/models/single_flight.h"
#include "core/models/workers.h"
#include "core/status.h"

namespace wasinn::core {

// Everything needed to load a registered model: its options for one version, and its place.
struct ModelSource : ModelOptions {
  std::shared_ptr<ModelMetrics> metrics;  // counts it; NULL: no counters
  std::shared_ptr<Workers> workers;       // run it; NULL: the host's own process
  std::vector<std::string> paths;         // of its files, or one address
  bool is_address = false;
  std::string folder;                          // all files there are the model's; "": only `paths`
  std::shared_ptr<const ModelOptions> origin;  // to find its files again; NULL: they are not looked for

  std::string full_name() const { return fmt::format("{}:{}", name, version); }
  std::string title() const { return fmt::format("model '{}'", full_name()); }  // for messages
};

// A registered model: compiled at most once, at its first use, and then kept for every guest.
class Model {
 public:
  using Loader = std::function<Result<std::shared_ptr<Graph>>(const ModelSource&)>;
  explicit Model(ModelSource source) : source_(std::move(source)) {}

  // The compiled graph. Callers that come while it compiles wait for it, within their limits. A failure is not
  // remembered, because the file may be repaired. Nor is a graph that was lost with its worker.
  Result<std::shared_ptr<Graph>> Get(const Loader& load, const WaitOptions& wait);

  const ModelSource& source() const { return source_; }
  // The next caller compiles the files again, as they are then. Holders of the graph keep it.
  void Unload();
  // Compiles it again, for Set.
  Result<std::shared_ptr<Graph>> Compile(const Loader& load);
  // Whether its files differ from those of the last compile, even of one that failed.
  bool HasChanged() const { return stamp_.load(std::memory_order_relaxed) != StampOf(source_.paths, source_.folder); }
  // Later callers get this graph.
  void Set(std::shared_ptr<Graph> graph) { graph_.Set(std::move(graph)); }
  // The compiled graph; NULL until there is one.
  std::shared_ptr<Graph> graph() const { return graph_.Peek().value_or(nullptr); }
  uint64_t compiles() const { return compiles_.load(std::memory_order_relaxed); }

 private:
  const ModelSource source_;
  std::atomic<uint64_t> compiles_{0}, stamp_{0};
  SingleFlight<std::shared_ptr<Graph>> graph_;
};

class ModelRegistry {
 public:
  // Replaces a model of the same name and version.
  Status Add(std::shared_ptr<Model> model);
  Status Add(ModelSource source) { return Add(std::make_shared<Model>(std::move(source))); }
  // "NAME" removes every version, "NAME:2" one. A framework's unload may take long, and holds up no other caller.
  Status Remove(std::string_view name);
  // All versions of "NAME", or the one of "NAME:2". Empty: there is no such model.
  std::vector<std::shared_ptr<Model>> Named(std::string_view name) const;
  // Unloads models by the same names; they stay registered.
  Status Unload(std::string_view name) const;
  // "NAME" is the highest version, "NAME:2" that one.
  Result<std::shared_ptr<Model>> Find(std::string_view name) const;
  // Sorted by name and version.
  std::vector<std::shared_ptr<Model>> All() const;
  // The first `most` names, sorted, and the total number: more names do not hold the lock longer.
  std::pair<std::vector<std::string>, size_t> Names(size_t most) const;
  // The versions of one name.
  std::vector<uint32_t> VersionsOf(std::string_view name) const;

 private:
  using Versions = std::map<uint32_t, std::shared_ptr<Model>>;
  mutable std::mutex mutex_;
  std::map<std::string, Versions, std::less<>> models_;
};

// INVALID_ARGUMENT for a name that no model can have: an empty one, or one with a colon. "digits:2" would be a version
// of "digits", for policies too.
Status CheckModelName(std::string_view name);

// "NAME:2" as name and version; no value if there is no such suffix.
std::optional<std::pair<std::string_view, uint32_t>> SplitVersion(std::string_view name);

}  // namespace wasinn::core
