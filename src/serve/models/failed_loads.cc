#include "serve/models/failed_loads.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "cli/log.h"
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

}  // namespace wasinn::serve
