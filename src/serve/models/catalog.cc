#include "serve/models/catalog.h"

#include <fmt/format.h>

#include <algorithm>

#include "serve/models/upstream.h"

namespace wasinn::serve {
namespace {

using nlohmann::json;

constexpr char kPlatform[] = "wasm_component", kBackend[] = "guest";

Failure NoLanguageModel(const std::string& model) {
  return {WASINN_ERROR_UNSUPPORTED_OPERATION, fmt::format("'{}' is no language model", model)};
}

json MetadataOf(const std::vector<engines::ModelIo>& ios) {
  json tensors = json::array();
  for (const engines::ModelIo& io : ios) {
    tensors.push_back({{"name", io.name}, {"datatype", DatatypeOf(io).name}, {"shape", io.shape}});
  }
  return tensors;
}

// Words of Triton's model configuration.
json ConfigOfIos(const std::vector<engines::ModelIo>& ios) {
  json tensors = json::array();
  for (const engines::ModelIo& io : ios) {
    const Datatype& datatype = DatatypeOf(io);
    const std::string type = datatype.size == 0 ? "STRING" : std::string(datatype.name);
    tensors.push_back({{"name", io.name}, {"data_type", "TYPE_" + type}, {"dims", io.shape}});
  }
  return tensors;
}

}  // namespace

std::shared_ptr<const GuestModels::Loaded> Catalog::FindGuest(const Tenant& tenant, const std::string& model,
                                                              const std::string& version) const {
  if (!tenant.Sees(model)) throw NoModel(model);
  return guests_->Find(model, version);
}

void Catalog::CheckServed(const Tenant& tenant, const std::string& model, const std::string& version) const {
  IsGuest(model) ? (void)FindGuest(tenant, model, version) : models_.CheckServed(tenant, model, version);
}

bool Catalog::IsLoaded(const Tenant& tenant, const std::string& model, const std::string& version) const {
  if (!IsGuest(model)) return models_.IsLoaded(tenant, model, version);
  CheckServed(tenant, model, version);
  return true;
}

void Catalog::LookReady(const Tenant& tenant, const std::string& model, const std::string& version) const {
  if (IsLoaded(tenant, model, version) || !models_.IsLoading(model)) return;
  Throw(WASINN_ERROR_UNAVAILABLE, "model '{}' is being loaded", model);
}

void Catalog::CheckReady(const Tenant& tenant, const std::string& model, const std::string& version) {
  IsGuest(model) ? CheckServed(tenant, model, version) : (void)models_.Find(tenant, model, version);
}

InferResponse Catalog::Infer(Tenant& tenant, const InferRequest& request, Cancellation* cancellation) {
  if (!IsGuest(request.model)) return models_.Infer(tenant, request, cancellation);
  if (!tenant.Sees(request.model)) throw NoModel(request.model);
  return guests_->Infer(tenant, request, cancellation);
}

std::unique_ptr<Completion> Catalog::Complete(Tenant& tenant, const std::string& model, const std::string& version,
                                              const Prompt& prompt, Cancellation* cancellation) {
  if (IsGuest(model)) throw NoLanguageModel(model);
  return models_.Complete(tenant, model, version, prompt, cancellation);
}

TextLimits Catalog::CheckGenerates(Tenant& tenant, const std::string& model, const std::string& version) {
  if (IsGuest(model)) throw NoLanguageModel(model);
  const auto found = models_.Find(tenant, model, version);
  if (!serve::Generates(found->signature)) throw NoLanguageModel(model);
  return tenant.LimitsOf(model, version);
}

bool Catalog::Generates(const std::string& model, const std::string& version) const {
  return !IsGuest(model) && models_.Generates(model, version);
}

std::string Catalog::VersionOf(const std::string& model, const std::string& version) const {
  return IsGuest(model) ? GuestModels::kVersion : std::to_string(FindVersion(models_.host(), model, version).version);
}

std::vector<ModelInfo> Catalog::LanguageModels(const Tenant& tenant) const {
  std::vector<ModelInfo> models = models_.host().Models();
  std::erase_if(models, [&](const ModelInfo& one) { return !tenant.Sees(one.name) || !models_.IsLanguageModel(one); });
  return models;
}

std::vector<ModelInfo> Catalog::Remote() const {
  std::vector<ModelInfo> models = models_.host().Models();
  std::erase_if(models, [](const ModelInfo& one) { return !Upstream::IsAddress(one.path); });
  return models;
}

bool Catalog::IsQuick(const std::string& model, const std::string& version, size_t bytes) const {
  return !IsGuest(model) && models_.IsQuick(model, version, bytes);
}

json Catalog::Metadata(const Tenant& tenant, const std::string& model, const std::string& version) {
  if (!IsGuest(model)) return models_.Metadata(tenant, model, version);
  const auto found = FindGuest(tenant, model, version);
  return json{{"name", model},
              {"versions", json::array({GuestModels::kVersion})},
              {"platform", kPlatform},
              {"inputs", MetadataOf(found->ios.inputs)},
              {"outputs", MetadataOf(found->ios.outputs)}};
}

json Catalog::Config(const Tenant& tenant, const std::string& model, const std::string& version) {
  if (!IsGuest(model)) return models_.Config(tenant, model, version);
  const auto found = FindGuest(tenant, model, version);
  return json{{"name", model},
              {"platform", kPlatform},
              {"backend", kBackend},
              {"max_batch_size", 0},
              {"input", ConfigOfIos(found->ios.inputs)},
              {"output", ConfigOfIos(found->ios.outputs)},
              {"model_transaction_policy", {{"decoupled", false}}}};
}

json Catalog::Index(const Tenant& tenant, bool ready_alone) const {
  json index = models_.Index(tenant, ready_alone);
  if (guests_ == nullptr) return index;
  for (const auto& [name, file] : guests_->files()) {
    const bool unloaded = guests_->Look(name) == nullptr;
    if ((unloaded && ready_alone) || !tenant.Sees(name)) continue;
    index.push_back({{"name", name},
                     {"version", GuestModels::kVersion},
                     {"state", unloaded ? "UNAVAILABLE" : "READY"},
                     {"reason", unloaded ? "unloaded" : ""}});
  }
  return index;
}

json Catalog::Overview(const Tenant& tenant, size_t most) const {
  json overview = models_.Overview(tenant, most);
  if (guests_ == nullptr) return overview;
  for (const auto& [name, file] : guests_->files()) {
    if (overview.size() == most) break;
    if (!tenant.Sees(name)) continue;
    const auto loaded = guests_->Look(name);
    overview.push_back({{"name", name},
                        {"version", GuestModels::kVersion},
                        {"state", loaded ? "loaded" : "unloaded"},
                        {"platform", kPlatform},
                        {"inputs", loaded ? MetadataOf(loaded->ios.inputs) : json()},
                        {"outputs", loaded ? MetadataOf(loaded->ios.outputs) : json()}});
  }
  return overview;
}

size_t Catalog::size(const Tenant& tenant) const {
  const auto sees = [&tenant](const auto& named) { return tenant.Sees(named); };
  const std::vector<ModelInfo> models = models_.host().Models();
  auto n = std::ranges::count_if(models, sees, &ModelInfo::name);
  if (guests_ != nullptr) n += std::ranges::count_if(guests_->files(), sees, [](const auto& one) { return one.first; });
  return static_cast<size_t>(n);
}

void Catalog::CheckControl(const Tenant& tenant, const std::string& model) const {
  if (!IsGuest(model)) return models_.CheckControl(tenant, model);
  if (!tenant.is_operator()) throw ForOperators();
  if (!tenant.Sees(model)) throw NoModel(model);
}

Place Catalog::PlaceOfLoad(const Tenant& tenant, const std::string& model) const {
  CheckControl(tenant, model);
  return PlaceOf(Knows(model) ? model : "");
}

// No unload waits for a load.
Place Catalog::PlaceOfUnload(const Tenant& tenant, const std::string& model) const {
  CheckControl(tenant, model);
  if (!Knows(model)) throw NoModel(model);
  return PlaceOf(model + " unload");
}

void Catalog::Load(const Tenant& tenant, const std::string& model) {
  if (!IsGuest(model)) return models_.Load(tenant, model);
  CheckControl(tenant, model);
  guests_->Load(tenant, model);
}

void Catalog::Unload(const Tenant& tenant, const std::string& model) {
  if (!IsGuest(model)) return models_.Unload(tenant, model);
  CheckControl(tenant, model);
  guests_->Unload(model);
}

}  // namespace wasinn::serve
