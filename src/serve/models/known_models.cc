#include "serve/models/known_models.h"

#include <fmt/format.h>

#include <sys/stat.h>
#include <algorithm>
#include <filesystem>
#include <ranges>
#include <string_view>
#include <utility>

#include "cli/log.h"
#include "core/text.h"
#include "serve/log.h"
#include "settings/text.h"

namespace wasinn::serve {

namespace {

constexpr FailedLoads::Clock::duration kFirstPause = std::chrono::seconds(1), kLongestPause = std::chrono::minutes(5);

int64_t ToNs(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

bool MayBeMendedElsewhere(wasinn_code code) {
  switch (code) {
    case WASINN_ERROR_TOO_LARGE:
    case WASINN_ERROR_BUSY:
    case WASINN_ERROR_TIMEOUT:
    case WASINN_ERROR_UNAVAILABLE:
    case WASINN_ERROR_LOST:
      return true;
    default:
      return false;
  }
}

// A pipeline, whose steps are other models, has no file.
bool IsFile(const ModelInfo& model) { return !model.path.empty() && !settings::IsAddress(model.path); }

}  // namespace

FailedLoads::Stamp FailedLoads::Stamp::Of(const std::string& path) {
  Stamp stamp;
  struct stat file = {}, folder = {};
  if (::stat(path.c_str(), &file) == 0) {
    stamp.file_ns = ToNs(file.st_mtim);
    stamp.size = static_cast<uint64_t>(file.st_size);
    stamp.inode = file.st_ino;
  }
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  if (::stat(parent.empty() ? "." : parent.c_str(), &folder) == 0) stamp.folder_ns = ToNs(folder.st_mtim);
  return stamp;
}

void FailedLoads::Add(const ModelInfo& model, const Failure& why) {
  if (!IsFile(model)) return;
  const Stamp stamp = Stamp::Of(model.path);
  const std::lock_guard lock(mutex_);
  const auto [at, is_first] = failed_[model.name].try_emplace(model.version);
  Failed& failed = at->second;
  const bool is_again = !is_first && failed.stamp == stamp;
  failed.pause = is_again ? std::min(2 * failed.pause, kLongestPause) : kFirstPause;
  failed.why = why;
  failed.stamp = stamp;
  failed.again = now_() + failed.pause;
}

void FailedLoads::Forget(const std::string& model) {
  const std::lock_guard lock(mutex_);
  failed_.erase(model);
}

std::optional<Failure> FailedLoads::Find(const ModelInfo& model, Asks asks) const {
  if (!IsFile(model)) return std::nullopt;
  std::optional<Failed> failed;
  {
    const std::lock_guard lock(mutex_);
    const auto versions = failed_.find(model.name);
    if (versions == failed_.end()) return std::nullopt;
    const auto version = versions->second.find(model.version);
    if (version != versions->second.end()) failed = version->second;
  }
  if (!failed || Stamp::Of(model.path) != failed->stamp) return std::nullopt;
  const bool is_over = now_() >= failed->again;
  const bool reads_again = asks == Asks::kInference || MayBeMendedElsewhere(failed->why.code);
  if (is_over && reads_again) return std::nullopt;
  return std::move(failed->why);
}

void LoadLog::Write(const std::string& name, const std::string& why) {
  // The host's message begins with the model's name, too.
  const std::string prefix = fmt::format("model '{}': ", name);
  std::string_view reason = why;
  if (reason.starts_with(prefix)) reason.remove_prefix(prefix.size());
  const std::string line = fmt::format("model '{}' cannot be loaded: {}", name, reason);
  {
    const std::lock_guard lock(mutex_);
    std::set<std::string>& reasons = logged_[name];
    if (reasons.size() == kMaxReasons || !reasons.insert(line).second) return;
  }
  cli::Log(WASINN_LOG_WARNING, settings::PrintableName(line).c_str());
}

void LoadLog::Forget(const std::string& name) {
  const std::lock_guard lock(mutex_);
  logged_.erase(name);
}

// The client has only sent a name. Errors in files, addresses, or keys for other servers are for the operator to fix.
// For the client the model is unavailable: 503 over HTTP, and UNAVAILABLE over gRPC, which has no code for 502.
Failure OfLoad(Failure why) {
  switch (why.code) {
    case WASINN_ERROR_SECURITY:
    case WASINN_ERROR_INVALID_ARGUMENT:
    case WASINN_ERROR_INVALID_ENCODING:
    case WASINN_ERROR_UNSUPPORTED_OPERATION:
      why.code = WASINN_ERROR_UNAVAILABLE;
      break;
    default:
      break;
  }
  return why;
}

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

std::optional<ModelInfo> LookUpVersion(const Host& host, const std::string& model, const std::string& version) {
  for (ModelInfo& one : VersionsOf(host, model) | std::views::reverse) {
    if (version.empty() || std::to_string(one.version) == version) return std::move(one);
  }
  return std::nullopt;
}

ModelInfo FindVersion(const Host& host, const std::string& model, const std::string& version) {
  if (auto found = LookUpVersion(host, model, version)) return std::move(*found);
  const std::string which = version.empty() ? "" : fmt::format(" version {}", version);
  Throw(WASINN_ERROR_NOT_FOUND, "there is no model '{}'{}", model, which);
}

void KnownModels::Reload(const std::string& model) {
  const Mark mark = MakeRoom(LookUpVersion(host_, model, "").value_or(ModelInfo{.name = model}));
  OrThrow(host_.ReloadModel(model));
}

std::optional<Failure> KnownModels::WhyNot(const ModelInfo& model) const {
  auto why = failed_.Find(model, FailedLoads::Asks::kWhetherReady);
  if (!why) return std::nullopt;
  return OfLoad(std::move(*why));
}

std::shared_ptr<const KnownModel> KnownModels::Load(const ModelInfo& registered) {
  const std::string number = std::to_string(registered.version), name = NameOf(registered.name, number);
  Result<Signature> signature = host_.Inspect(name);
  if (!signature) {
    log_.Write(name, signature.status().message());
    Failure why{signature.status().code(), core::WithoutPaths(signature.status().message())};
    failed_.Add(registered, why);
    throw std::move(why);
  }
  log_.Forget(name);
  // It is loaded now, and its backend is known.
  return std::make_shared<const KnownModel>(FindVersion(host_, registered.name, number), std::move(*signature));
}

std::shared_ptr<const KnownModel> KnownModels::Peek(const std::string& model, const std::string& version) const {
  const std::lock_guard lock(mutex_);
  const auto versions = known_.find(model);
  if (versions == known_.end()) return nullptr;
  const auto known = versions->second.find(version);
  return known == versions->second.end() ? nullptr : known->second;
}

std::shared_ptr<const KnownModel> KnownModels::Get(const std::string& model, const std::string& version) try {
  return GetWithDetails(model, version);
} catch (Failure& why) {
  throw OfLoad(std::move(why));
}

std::shared_ptr<const KnownModel> KnownModels::GetWithDetails(const std::string& model, const std::string& version) {
  if (auto known = Peek(model, version)) return known;
  const ModelInfo registered = FindVersion(host_, model, version);
  if (auto why = failed_.Find(registered, FailedLoads::Asks::kInference)) throw std::move(*why);
  const Mark mark = MakeRoom(registered);
  auto found = Load(registered);
  const std::lock_guard lock(mutex_);
  if (!mark->is_forgotten) known_[model][version] = found;
  return found;
}

void KnownModels::Forget(const std::string& model) {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& one : loading_) one->is_forgotten |= one->key.first == model;
    known_.erase(model);
  }
  NotifyForgotten(model);
}

void KnownModels::NotifyForgotten(const std::string& model) {
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

// By the time of their last use; needs `room_`. `loaded`: all except `but`.
std::multimap<KnownModels::Clock::time_point, ModelInfo> KnownModels::FindIdle(const Key& but, std::set<Key>& loaded) {
  std::multimap<Clock::time_point, ModelInfo> idle;
  for (ModelInfo& model : host_.Models()) {
    const Key key(model.name, model.version);
    if (!model.loaded || key == but) continue;
    loaded.insert(key);
    const auto since = since_.try_emplace(key, Clock::now()).first->second;
    if (settings_.preloads(model.name)) continue;
    idle.emplace(std::max(since, statistics_->Last(model.name, model.version)), std::move(model));
  }
  std::erase_if(since_, [&](const auto& one) { return one.first != but && !loaded.contains(one.first); });
  return idle;
}

// Whether it is being loaded, or a request holds it in addition to `known_`.
bool KnownModels::IsInUse(const ModelInfo& model) const {
  const Key key(model.name, model.version);
  if (std::ranges::any_of(loading_, [&](const auto& one) { return one->key == key; })) return true;
  const auto versions = known_.find(model.name);
  return versions != known_.end() && std::ranges::any_of(versions->second, [&](const auto& known) {
           return known.second->info.version == model.version && known.second.use_count() > 1;
         });
}

// A request that comes now loads it again, and waits for `room_`, which the caller holds. Other versions stay known.
bool KnownModels::TryUnload(const ModelInfo& model) {
  {
    const std::lock_guard lock(mutex_);
    if (IsInUse(model)) return false;
    if (const auto versions = known_.find(model.name); versions != known_.end()) {
      std::erase_if(versions->second, [&](const auto& one) { return one.second->info.version == model.version; });
    }
  }
  const std::string name = NameOf(model.name, std::to_string(model.version));
  Log(WASINN_LOG_INFO, "repository: unloaded model '{}'", name);
  (void)host_.UnloadModel(name);
  NotifyForgotten(model.name);
  return true;
}

KnownModels::Mark KnownModels::MakeRoom(const ModelInfo& model) {
  const Key key(model.name, model.version);
  const std::lock_guard room(room_);
  if (settings_.max_loaded > 0) {
    std::set<Key> loaded;
    auto idle = FindIdle(key, loaded);
    {
      const std::lock_guard lock(mutex_);
      for (const auto& one : loading_) loaded.insert(one->key);
    }
    loaded.erase(key);
    for (size_t n = loaded.size(); n >= settings_.max_loaded; idle.erase(idle.begin())) {
      if (idle.empty()) {
        Throw(WASINN_ERROR_BUSY, "no more than {} models may be loaded (max_loaded), and all have requests",
              settings_.max_loaded);
      }
      if (TryUnload(idle.begin()->second)) --n;
    }
  }
  const auto loading = std::make_shared<Loading>(key);
  const std::lock_guard lock(mutex_);
  loading_.insert(loading);
  return Mark(loading.get(), [this, loading](const Loading*) {
    const std::scoped_lock locks(room_, mutex_);
    if (settings_.max_loaded > 0 || settings_.idle_unload.count() > 0) since_[loading->key] = Clock::now();
    loading_.erase(loading);
  });
}

bool KnownModels::IsLoading(const std::string& model) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(loading_, [&](const auto& one) { return one->key.first == model; });
}

void KnownModels::Sweep() {
  if (settings_.idle_unload.count() == 0) return;
  const std::lock_guard room(room_);
  std::set<Key> loaded;
  for (const auto& [last, model] : FindIdle({}, loaded)) {
    if (Clock::now() - last >= settings_.idle_unload) (void)TryUnload(model);
  }
}

}  // namespace wasinn::serve
