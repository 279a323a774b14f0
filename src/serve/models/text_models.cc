#include "serve/models/text_models.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/runtime/processors.h"
#include "serve/log.h"
#include "serve/models/known_models.h"

namespace wasinn::serve {
namespace {

bool IsNumber(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Only some names if there are very many: any client gets them in an answer.
std::string Some(const std::vector<TextModels::Name>& names) {
  constexpr size_t kMaxNames = 16, kMaxBytes = 1024;
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i == kMaxNames || text.size() + names[i].model.size() > kMaxBytes) {
      return text.empty() ? fmt::format("{} models", names.size())
                          : text + fmt::format(" and {} more", names.size() - i);
    }
    text += (i == 0 ? "" : ", ") + names[i].model;
  }
  return text;
}

}  // namespace

TextModels::TextModels(Catalog& models, const Workers::Limits& limits, Adapters adapters,
                       const UpstreamSettings& upstreams)
    : models_(models), limits_(limits), adapters_(std::move(adapters)) {
  for (const ModelInfo& model : models_.Remote()) {
    auto made = Try([&] { return Upstream::Make(model.name, model.path, upstreams); });
    if (!made) Log(WASINN_LOG_WARNING, "model '{}' cannot be served: {}", model.name, made.error().message);
    upstreams_.emplace(Key(model.name, std::to_string(model.version)), std::move(made));
  }
}

std::shared_ptr<Upstream> TextModels::UpstreamOf(const Name& name) const {
  const auto found = upstreams_.find(Key(name.model, name.version));
  if (found == upstreams_.end()) return nullptr;
  if (!found->second) throw OfLoad(found->second.error());
  return *found->second;
}

Failure TextModels::NotFound(const Tenant& tenant, Failure why) const {
  const std::vector<Name> names = Highest(tenant);
  if (!names.empty()) why.message += fmt::format("; the language models here are {}", Some(names));
  return why;
}

TextModels::Name TextModels::Find(const Tenant& tenant, const std::string& name) const {
  auto found = FindModel(tenant, name);
  if (found || found.error().code != WASINN_ERROR_NOT_FOUND) return OrThrow(std::move(found));
  if (const auto adapter = adapters_.find(name); adapter != adapters_.end()) {
    if (auto base = FindModel(tenant, adapter->second)) {
      base->adapter = name;
      return std::move(*base);
    }
  }
  throw NotFound(tenant, std::move(found.error()));
}

Outcome<TextModels::Name> TextModels::FindModel(const Tenant& tenant, const std::string& name) const {
  auto found = FindVersion(tenant, name, "");
  if (found || found.error().code != WASINN_ERROR_NOT_FOUND) return found;
  const size_t colon = name.rfind(':');
  const bool is_version = colon != name.npos && IsNumber(std::string_view(name).substr(colon + 1));
  return is_version ? FindVersion(tenant, name.substr(0, colon), name.substr(colon + 1)) : found;
}

Outcome<TextModels::Name> TextModels::FindVersion(const Tenant& tenant, const std::string& model,
                                                  const std::string& version) const {
  return Try([&] {
    models_.CheckServed(tenant, model, version);
    return Name{model, models_.VersionOf(model, version), ""};
  });
}

std::vector<TextModels::Name> TextModels::Highest(const Tenant& tenant) const {
  std::vector<Name> names;
  for (const ModelInfo& one : models_.LanguageModels(tenant)) {  // the versions of a name one after the other
    if (names.empty() || names.back().model != one.name) names.push_back({one.name, {}, {}});
    names.back().version = std::to_string(one.version);
  }
  return names;
}

std::vector<std::pair<std::string, TextModels::Name>> TextModels::List(const Tenant& tenant) const {
  std::vector<std::pair<std::string, Name>> list;
  for (Name& name : Highest(tenant)) {
    if (FindVersion(tenant, name.model, "")) list.emplace_back(name.model, std::move(name));
  }
  for (const auto& [name, model] : adapters_) {
    auto found = Try([&] { return Find(tenant, name); });
    if (found && !found->adapter.empty()) list.emplace_back(name, std::move(*found));
  }
  return list;
}

uint32_t TextModels::ContextOf(const Name& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(Key(name.model, name.version));
  return found == open_.end() ? 0 : found->second.context;
}

TextModels::Name TextModels::FindOnly(const Tenant& tenant) const {
  const std::vector<Name> names = Highest(tenant);
  if (names.size() == 1) return OrThrow(FindVersion(tenant, names.front().model, ""));
  if (names.empty()) ThrowInvalid("the request names no model, and there is no language model here");
  ThrowInvalid("the request names no model, and there are {} to choose from: {}", names.size(), Some(names));
}

Workers* TextModels::WorkersOf(const Name& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(Key(name.model, name.version));
  return found == open_.end() ? nullptr : found->second.workers.get();
}

Workers* TextModels::Open(Tenant& tenant, const Name& name) {
  const TextLimits generates = models_.CheckGenerates(tenant, name.model, name.version);
  Workers::Limits limits = limits_;
  limits.threads = generates.parallel > 0 ? generates.parallel : Processors();
  limits.long_job = std::chrono::hours(24);  // a client waits for each token
  const std::lock_guard lock(mutex_);
  if (is_stopped_) Throw(WASINN_ERROR_UNAVAILABLE, "the server is shutting down");
  Key key(name.model, name.version);
  auto found = open_.find(key);
  if (found == open_.end()) found = open_.emplace(std::move(key), Model{std::make_unique<Workers>(limits)}).first;
  found->second.context = generates.context;  // of the current file
  return found->second.workers.get();
}

std::vector<std::pair<TextModels::Name, Workers::Load>> TextModels::Look() const {
  std::vector<std::pair<Name, Workers::Load>> loads;
  const std::lock_guard lock(mutex_);
  loads.reserve(open_.size());
  for (const auto& [key, model] : open_) {
    if (!upstreams_.contains(key)) loads.push_back({Name{key.first, key.second, ""}, model.workers->Look()});
  }
  for (const auto& [key, upstream] : upstreams_) {
    if (!upstream) continue;
    Workers::Load load = (*upstream)->Look();
    if (const auto open = open_.find(key); open != open_.end()) load.running += open->second.workers->Look().running;
    loads.push_back({Name{key.first, key.second, ""}, load});
  }
  return loads;
}

void TextModels::Sweep() {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, model] : open_) model.workers->Sweep();
}

void TextModels::Stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  for (const auto& [key, model] : open_) model.workers->Stop();  // no thread adds models any more
  for (const auto& [key, upstream] : upstreams_) {
    if (upstream) (*upstream)->Stop();
  }
}

}  // namespace wasinn::serve
