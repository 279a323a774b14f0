#include "serve/models/repository.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "core/text.h"
#include "serve/log.h"
#include "serve/models/upstream.h"
#include "settings/text.h"

namespace wasinn::serve {

namespace {

using nlohmann::json;
using Control = RepositorySettings::Control;

// Triton's name of the platform, if it has one; else the backend and the format.
std::string PlatformOf(const ModelInfo& model) {
  if (model.backend == "onnx") return "onnxruntime_onnx";
  if (model.backend == "torch") return "pytorch_libtorch";
  if (model.backend == "tensorflow") return "tensorflow_graphdef";
  if (!model.steps.empty()) return "ensemble";
  return model.backend + "_" + model.encoding;
}

// A thread that reads and writes may compute no longer than that.
constexpr int64_t kQuickNs = 500'000;

json ShapeOf(const Io& io) {
  if (IsText(io)) return {1};
  if (!io.has_rank) return json::array({-1});
  json dims = io.dims;
  if ((io.flags & WASINN_IO_STRINGS) != 0) dims.erase(dims.size() - 1);
  return dims;
}

// If the protocol has no word for it, the framework's: a client would send the type that it reads here.
std::string TypeOf(const Io& io) {
  const Datatype* datatype = DatatypeOf(io);
  if (datatype != nullptr) return std::string(datatype->name);
  return io.type_name.empty() ? "any" : io.type_name;
}

// The type in the words of Triton's model configuration.
std::string ConfigTypeOf(const Io& io) {
  const Datatype* datatype = DatatypeOf(io);
  if (datatype == nullptr) return "TYPE_INVALID";
  return "TYPE_" + (datatype->size == 0 ? "STRING" : std::string(datatype->name));
}

json TensorsOf(const std::vector<Io>& ios) {
  json tensors = json::array();
  for (const Io& io : ios) {
    tensors.push_back({{"name", io.name}, {"datatype", TypeOf(io)}, {"shape", ShapeOf(io)}});
  }
  return tensors;
}

// Words of Triton's model configuration.
json ConfigOf(const std::vector<Io>& ios, bool is_batched) {
  json tensors = json::array();
  for (const Io& io : ios) {
    json dims = ShapeOf(io);
    if (is_batched && io.has_rank && !dims.empty()) dims.erase(0);  // which Triton adds
    json tensor = {{"name", io.name}, {"data_type", ConfigTypeOf(io)}, {"dims", std::move(dims)}};
    if ((io.flags & WASINN_IO_OPTIONAL) != 0) tensor["optional"] = true;
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace

bool Repository::IsUnloaded(const std::string& model) const {
  const std::lock_guard lock(mutex_);
  return unloaded_.contains(model);
}

void Repository::CheckNamed(const Tenant& tenant, const std::string& model) const {
  if (!tenant.Sees(model) || !Knows(model)) throw NoModel(model);
  if (IsUnloaded(model)) Throw(WASINN_ERROR_UNAVAILABLE, "model '{}' is unloaded", model);
}

void Repository::CheckServed(const Tenant& tenant, const std::string& model, const std::string& version) const {
  CheckNamed(tenant, model);
  if (!version.empty() && models_.Peek(model, version) == nullptr) (void)FindVersion(host_, model, version);
}

bool Repository::IsLoaded(const Tenant& tenant, const std::string& model, const std::string& version) const {
  CheckServed(tenant, model, version);
  if (models_.Peek(model, version) != nullptr) return true;
  if (auto why = models_.WhyNot(FindVersion(host_, model, version))) throw std::move(*why);
  return false;
}

// Called after a possible load, which a concurrent `unload` did not see.
void Repository::LetGoIfUnloaded(const std::string& model) {
  if (!IsUnloaded(model)) return;
  (void)host_.UnloadModel(model);
  models_.Forget(model);
}

template <typename Use>
auto Repository::Using(const Tenant& tenant, const std::string& model, const Use& use) {
  CheckNamed(tenant, model);
  auto used = Try(use);
  LetGoIfUnloaded(model);
  return OrThrow(std::move(used));
}

std::shared_ptr<const KnownModel> Repository::Find(const Tenant& tenant, const std::string& model,
                                                   const std::string& version) {
  return Using(tenant, model, [&] { return models_.Get(model, version); });
}

InferResponse Repository::Infer(Tenant& tenant, const InferRequest& request, Cancellation* cancellation) {
  return Using(tenant, request.model, [&] { return tenant.Infer(request, cancellation); });
}

std::unique_ptr<Completion> Repository::Complete(Tenant& tenant, const std::string& model, const std::string& version,
                                                 const Prompt& prompt, Cancellation* cancellation) {
  return Using(tenant, model, [&] { return tenant.Complete(model, version, prompt, cancellation); });
}

bool Repository::Generates(const std::string& model, const std::string& version) const {
  const auto known = models_.Peek(model, version);
  return known != nullptr && serve::Generates(known->signature);
}

bool Repository::IsLanguageModel(const ModelInfo& model) const {
  const auto known = models_.Peek(model.name, std::to_string(model.version));
  if (known != nullptr) return serve::Generates(known->signature);
  return model.encoding == "ggml" || Upstream::IsAddress(model.path);
}

bool Repository::IsQuick(const std::string& model, const std::string& version, size_t bytes) const {
  if (bytes > kMaxInline) return false;
  const std::shared_ptr<const KnownModel> known = models_.Peek(model, version);
  // A compute of another machine may take any time, whatever the last one took.
  if (known == nullptr || settings::IsAddress(known->info.path)) return false;
  const int64_t usual = known->usual_ns.load(std::memory_order_relaxed);
  return usual != 0 && usual < kQuickNs;
}

json Repository::Index(const Tenant& tenant, bool ready_alone) const {
  json index = json::array();
  const std::vector<ModelInfo> models = host_.Models();
  auto rejected = Rejected();
  const auto add = [&](const std::string& name, uint32_t version, const char* state, const std::string& reason) {
    if ((*state != 'R' && ready_alone) || !tenant.Sees(name)) return;
    index.push_back({{"name", name}, {"version", std::to_string(version)}, {"state", state}, {"reason", reason}});
  };
  for (const ModelInfo& model : models) {
    const auto why = model.loaded ? std::nullopt : models_.WhyNot(model);
    const auto newer = rejected.extract({model.name, model.version});  // the old file serves
    const bool is_unloaded = IsUnloaded(model.name);
    const char* const state = is_unloaded || why                               ? "UNAVAILABLE"
                              : !model.loaded && models_.IsLoading(model.name) ? "LOADING"
                                                                               : "READY";
    add(model.name, model.version, state, is_unloaded ? "unloaded" : why ? why->message : newer ? newer.mapped() : "");
  }
  for (const auto& [key, why] : rejected) add(key.first, key.second, "UNAVAILABLE", why);
  return index;
}

json Repository::Overview(const Tenant& tenant, size_t most) const {
  json overview = json::array();
  size_t tensors_left = kMaxTensors;  // of all models: files may have any number of them
  const std::vector<ModelInfo> models = host_.Models();
  for (size_t i = 0; i < models.size() && overview.size() < most; ++i) {
    const ModelInfo& model = models[i];
    if (!tenant.Sees(model.name)) continue;
    auto known = models_.Peek(model.name, std::to_string(model.version));
    const bool is_newest = i + 1 == models.size() || models[i + 1].name != model.name;
    if (known == nullptr && is_newest) known = models_.Peek(model.name, "");
    const bool is_unloaded = IsUnloaded(model.name);
    json one = {{"name", model.name},
                {"version", std::to_string(model.version)},
                {"state", is_unloaded    ? "unloaded"
                          : model.loaded ? "loaded"
                                         : "not loaded yet"},
                {"platform", nullptr},
                {"inputs", nullptr},
                {"outputs", nullptr}};
    if (!model.backend.empty() || !model.steps.empty()) one["platform"] = PlatformOf(model);
    const size_t tensors = known == nullptr ? 0 : known->signature.inputs.size() + known->signature.outputs.size();
    if (known != nullptr && tensors <= tensors_left) {
      tensors_left -= tensors;
      one["inputs"] = TensorsOf(known->signature.inputs);
      one["outputs"] = TensorsOf(known->signature.outputs);
    }
    overview.push_back(std::move(one));
  }
  return overview;
}

json Repository::Metadata(const Tenant& tenant, const std::string& model, const std::string& version) {
  const auto found = Find(tenant, model, version);
  json versions = json::array();
  for (const ModelInfo& one : VersionsOf(host_, model)) versions.push_back(std::to_string(one.version));
  return json{{"name", model},
              {"versions", std::move(versions)},
              {"platform", PlatformOf(found->info)},
              {"inputs", TensorsOf(found->signature.inputs)},
              {"outputs", TensorsOf(found->signature.outputs)}};
}

json Repository::Config(const Tenant& tenant, const std::string& model, const std::string& version) {
  const auto found = Find(tenant, model, version);
  const uint32_t rows = found->info.max_batch_size;
  return json{{"name", model},
              {"platform", PlatformOf(found->info)},
              {"backend", found->info.backend},
              {"max_batch_size", rows},
              {"input", ConfigOf(found->signature.inputs, rows > 0)},
              {"output", ConfigOf(found->signature.outputs, rows > 0)},
              {"model_transaction_policy", {{"decoupled", serve::Generates(found->signature)}}}};
}

void Repository::CheckControl(const Tenant& tenant, const std::string& model) const {
  if (!tenant.is_operator()) throw ForOperators();
  if (!tenant.Sees(model)) throw NoModel(model);
  if (settings_.control == Control::kNone || settings_.control == Control::kPoll) {
    ThrowInvalid("with --model-control-mode none or poll, models cannot be loaded or unloaded by request");
  }
  if (!model.contains(':')) return;
  Failure why = NoModel(model);
  why.message += ": versions are loaded and unloaded with their model";
  throw std::move(why);
}

void Repository::Load(const Tenant& tenant, const std::string& model) {
  CheckControl(tenant, model);
  try {
    models_.Reload(model);
  } catch (const Failure& failure) {
    if (failure.code == WASINN_ERROR_NOT_FOUND && VersionsOf(host_, model).empty()) {
      if (Knows(model)) ReadNames();
      throw NoModel(model);
    }
    // The host's message begins with the version.
    const std::string_view why = failure.message, begin = "model '";
    const size_t end = why.find("': ");
    const bool has_name = why.starts_with(begin) && end != why.npos;
    models_.LogFailure(std::string(has_name ? why.substr(begin.size(), end - begin.size()) : model), std::string(why));
    throw Failure{failure.code, core::WithoutPaths(failure.message)};
  }
  models_.Forget(model);
  ReadNames();
  const std::lock_guard lock(mutex_);
  unloaded_.erase(model);
  std::erase_if(rejected_, [&](const auto& one) { return one.first.first == model; });
}

void Repository::Unload(const Tenant& tenant, const std::string& model) {
  CheckControl(tenant, model);
  {
    const std::lock_guard lock(mutex_);
    if (!names_.contains(model)) throw NoModel(model);
    unloaded_.insert(model);
  }
  const Status status = host_.UnloadModel(model);
  models_.Forget(model);
  OrThrow(status);
}

void Repository::UnloadAsIn(const Repository& other) {
  std::set<std::string> unloaded;
  {
    const std::scoped_lock lock(mutex_, other.mutex_);
    std::erase_if(unloaded_, [&](const std::string& model) { return other.names_.contains(model); });  // else it is new
    unloaded_.insert(other.unloaded_.begin(), other.unloaded_.end());
    unloaded = unloaded_;
  }
  for (const std::string& model : unloaded) LetGoIfUnloaded(model);
}

void Repository::LoadAsIn(const Repository& other) {
  UnloadAsIn(other);
  for (const ModelInfo& model : other.host_.Models()) {
    const std::string version = std::to_string(model.version);
    const auto here = LookUpVersion(host_, model.name, version);
    if (!model.loaded || !here) continue;
    Log(WASINN_LOG_INFO, "configuration: loading model '{}'", NameOf(model.name, version));
    try {
      (void)models_.Get(model.name, version);
    } catch (const Failure&) {
      // The same server is not there for the last configuration, either.
      const bool is_same_server = settings::IsAddress(here->path) && here->path == model.path;
      if (!is_same_server) throw;
    }
  }
}

Repository::Repository(Host host, const RepositorySettings& settings, std::shared_ptr<const Statistics> statistics)
    : settings_(settings), host_(std::move(host)), models_(host_, settings_, std::move(statistics)) {
  ReadNames();
  of_start_ = names_;
}

// A new model waits to be loaded by name, if models are loaded in that mode.
void Repository::ReadNames() {
  std::set<std::string> names;
  for (const ModelInfo& model : host_.Models()) names.insert(model.name);
  const std::lock_guard lock(mutex_);
  for (const std::string& name : names) {
    if (settings_.control != Control::kExplicit || names_.contains(name) || settings_.preloads(name)) continue;
    unloaded_.insert(name);
  }
  names_ = std::move(names);
}

void Repository::Preload() {
  std::string failures;
  wasinn_code code = WASINN_OK;
  std::set<std::string> names = settings_.load_models;
  names.erase("*");
  for (const ModelInfo& model : host_.Models()) {
    if (settings_.preloads(model.name)) names.insert(model.name);
  }
  for (const std::string& name : names) {
    try {
      (void)models_.GetWithDetails(name, "");
    } catch (const Failure& failure) {
      code = failure.code;
      failures += (failures.empty() ? "" : "; ") + failure.message;
    }
  }
  if (code != WASINN_OK) throw Failure{code, std::move(failures)};
}

void Repository::CheckReady() const {
  std::vector<ModelInfo> models = host_.Models();
  for (size_t i = 0; i < models.size(); ++i) {
    const ModelInfo& model = models[i];
    const bool is_highest = i + 1 == models.size() || models[i + 1].name != model.name;
    if (model.loaded || !is_highest || !settings_.preloads(model.name) || IsUnloaded(model.name)) continue;
    if (!of_start_.contains(model.name)) continue;
    if (models_.IsLoading(model.name)) {
      Throw(WASINN_ERROR_UNAVAILABLE, "model '{}' is being loaded", model.name);
    }
    if (models_.WhyNot(model)) Throw(WASINN_ERROR_UNAVAILABLE, "model '{}' does not load", model.name);
  }
}

void Repository::Rescan() {
  const Result<std::vector<ModelChange>> changes = host_.RescanModels();
  if (!changes) return Log(WASINN_LOG_ERROR, "{}", changes.status().message());
  for (const ModelChange& change : *changes) {
    const std::string name = NameOf(change.name, std::to_string(change.version));
    const std::pair key(change.name, change.version);
    if (change.kind == WASINN_MODEL_CHANGE_FAILED) {
      models_.LogFailure(name, change.message);
      const std::lock_guard lock(mutex_);
      rejected_[key] = core::WithoutPaths(change.message);
      continue;
    }
    const char* const what = change.kind == WASINN_MODEL_CHANGE_ADDED      ? "added"
                             : change.kind == WASINN_MODEL_CHANGE_RELOADED ? "reloaded"
                                                                           : "removed";
    Log(WASINN_LOG_INFO, "repository: {} model '{}'", what, name);
    models_.Forget(change.name);
    const std::lock_guard lock(mutex_);
    rejected_.erase(key);
  }
  if (changes->empty()) return;
  ReadNames();
  if (settings_.control == Control::kPoll) (void)Try([this] { Preload(); });
}

void Repository::Upkeep() {
  models_.Sweep();
  const auto now = std::chrono::steady_clock::now();
  if (settings_.poll.count() == 0 || now < next_scan_) return;
  next_scan_ = now + settings_.poll;
  Rescan();
}

}  // namespace wasinn::serve
