#include "serve/models/known_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "core/text.h"

namespace wasinn::serve {

std::string NameOf(const std::string& model, const std::string& version) {
  return version.empty() ? model : model + ":" + version;
}

bool Generates(const Signature& signature) {
  const auto is_known = [](const Io& io) {
    return io.name == "prompt" || io.name == "options" || (io.flags & WASINN_IO_OPTIONAL) != 0;
  };
  return FindIo(signature.inputs, "prompt") != nullptr && FindIo(signature.inputs, "options") != nullptr &&
         std::ranges::all_of(signature.inputs, is_known);
}

const Io* FindIo(const std::vector<Io>& ios, const std::string& name) {
  const auto found = std::ranges::find(ios, name, &Io::name);
  return found == ios.end() ? nullptr : &*found;
}

bool IsText(const Io& io) {
  if ((io.flags & WASINN_IO_OPAQUE) != 0) return true;
  return io.dtype == WASINN_DTYPE_U8 && (io.type_name == "text" || io.type_name == "JSON");
}

const Datatype* DatatypeOf(const Io& io) {
  return IsText(io) || (io.flags & WASINN_IO_STRINGS) != 0 ? &Bytes() : FindDatatype(io.dtype);
}

std::vector<ModelInfo> VersionsOf(const Host& host, const std::string& model) {
  std::vector<ModelInfo> versions = host.Models();
  std::erase_if(versions, [&](const ModelInfo& one) { return one.name != model; });
  return versions;
}

Outcome<ModelInfo> FindVersion(const Host& host, const std::string& model, const std::string& version) {
  for (ModelInfo& one : VersionsOf(host, model) | std::views::reverse) {
    if (version.empty() || std::to_string(one.version) == version) return std::move(one);
  }
  const std::string which = version.empty() ? "" : fmt::format(" version {}", version);
  return std::unexpected(Failure{WASINN_ERROR_NOT_FOUND, fmt::format("there is no model '{}'{}", model, which)});
}

Outcome<void> KnownModels::Reload(const std::string& model) {
  ModelInfo registered{.name = model};
  if (auto found = FindVersion(host_, model, "")) registered = std::move(*found);
  const auto mark = MakeRoom(registered);
  if (!mark) return std::unexpected(mark.error());
  const Status status = host_.ReloadModel(model);
  if (!status.ok()) return std::unexpected(Failure{status.code(), status.message()});
  return {};
}

std::optional<Failure> KnownModels::WhyNot(const ModelInfo& model) const {
  auto why = failed_.Find(model, FailedLoads::Asks::kWhetherReady);
  if (!why) return std::nullopt;
  return OfLoad(std::move(*why));
}

Outcome<std::shared_ptr<const KnownModel>> KnownModels::Load(const ModelInfo& registered) {
  const std::string number = std::to_string(registered.version), name = NameOf(registered.name, number);
  Result<Signature> signature = host_.Inspect(name);
  if (!signature) {
    log_.Tell(name, signature.status().message());
    Failure why{signature.status().code(), core::WithoutPaths(signature.status().message())};
    failed_.Add(registered, why);
    return std::unexpected(std::move(why));
  }
  log_.Forget(name);
  auto info = FindVersion(host_, registered.name, number);  // it is loaded now, and its backend is known
  if (!info) return std::unexpected(std::move(info.error()));
  return std::make_shared<const KnownModel>(std::move(*info), std::move(*signature));
}

std::shared_ptr<const KnownModel> KnownModels::Peek(const std::string& model, const std::string& version) const {
  const std::lock_guard lock(mutex_);
  const auto versions = known_.find(model);
  if (versions == known_.end()) return nullptr;
  const auto known = versions->second.find(version);
  return known == versions->second.end() ? nullptr : known->second;
}

Outcome<std::shared_ptr<const KnownModel>> KnownModels::Get(const std::string& model, const std::string& version) {
  auto found = GetOrTell(model, version);
  if (!found) return std::unexpected(OfLoad(std::move(found.error())));
  return found;
}

Outcome<std::shared_ptr<const KnownModel>> KnownModels::GetOrTell(const std::string& model,
                                                                  const std::string& version) {
  if (auto known = Peek(model, version)) return known;
  const auto registered = FindVersion(host_, model, version);
  if (!registered) return std::unexpected(registered.error());
  if (auto why = failed_.Find(*registered, FailedLoads::Asks::kInference)) return std::unexpected(std::move(*why));
  const auto mark = MakeRoom(*registered);
  if (!mark) return std::unexpected(mark.error());
  auto found = Load(*registered);
  if (!found) return found;
  const std::lock_guard lock(mutex_);
  if (!(*mark)->is_forgotten) known_[model][version] = *found;
  return found;
}

void KnownModels::Forget(const std::string& model) {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& one : loading_) one->is_forgotten |= one->key.first == model;
    known_.erase(model);
  }
  TellForgotten(model);
}

void KnownModels::TellForgotten(const std::string& model) {
  failed_.Forget(model);
  const std::lock_guard lock(listening_);
  for (const Listener* listener : listeners_) listener->forget_(model);
}

KnownModels::Listener::Listener(KnownModels& models, std::function<void(const std::string& model)> forget)
    : models_(models), forget_(std::move(forget)) {
  const std::lock_guard lock(models_.listening_);
  models_.listeners_.insert(this);
}

KnownModels::Listener::~Listener() {
  const std::lock_guard lock(models_.listening_);
  models_.listeners_.erase(this);
}

}  // namespace wasinn::serve
