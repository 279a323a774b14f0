#include "cli/artifact_paths.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <filesystem>
#include <map>
#include <mutex>

#include "artifacts/store.h"
#include "cli/log.h"
#include "cli/progress.h"
#include "engines/trusted_file.h"
#include "settings/text.h"

namespace wasinn::cli {
namespace {

using artifacts::Reference;

// The digests of tags at their first use.
class Tags {
 public:
  Reference Pin(const Reference& reference) {
    const std::lock_guard lock(mutex_);
    const auto found = digests_.find(KeyOf(reference));
    return !reference.digest.empty() || found == digests_.end() ? reference : reference.At(found->second);
  }
  // Whether it is reported for the first time.
  bool AddForReport(const Reference& reference, const std::string& digest) {
    const std::lock_guard lock(mutex_);
    return digests_.try_emplace(KeyOf(reference), digest).second;
  }

 private:
  static std::string KeyOf(Reference reference) {
    reference.file.clear();
    return ToString(reference);
  }
  std::mutex mutex_;  // guards the members below
  std::map<std::string, std::string> digests_;
};

engines::Result<void> CheckGuestFolders(const std::vector<engines::Directory>& guest_folders) {
  if (guest_folders.empty()) return {};
  const auto store = artifacts::Store::Open();
  if (!store) return std::unexpected(store.error());
  const std::string path = store->path().string();
  for (const engines::Directory& guests : guest_folders) {
    if (!engines::IsWithin(path, guests.host) && !engines::IsWithin(guests.host, path)) continue;
    return std::unexpected(
        fmt::format("the guest may use the folder {}, and what is pulled lies in {}: XDG_CACHE_HOME may name another",
                    guests.host, path));
  }
  return {};
}

// Adds the references under one key of a table of tables.
engines::Result<void> AddKeys(const toml::table& file, const char* section, const char* key,
                              std::vector<ArtifactKey>& keys) {
  const toml::table* const tables = file[section].as_table();
  if (tables == nullptr) return {};
  for (const auto& [name, table] : *tables) {
    const toml::table* const inner = table.as_table();
    const std::string path = inner == nullptr ? "" : (*inner)[key].value_or(std::string());
    if (!artifacts::IsReference(path)) continue;
    const std::string place = fmt::format("configuration key '{}.{}.{}': ", section, name.str(), key);
    const auto reference = artifacts::ParseReference(path);
    if (!reference) return std::unexpected(place + reference.error());
    if (reference->digest.empty()) {
      return std::unexpected(fmt::format(
          "{}'{}' has no digest, and a tag may change: `wasinn models pull {}` prints it", place, path, path));
    }
    keys.push_back({section, std::string(name.str()), key, path});
  }
  return {};
}

}  // namespace

engines::Result<artifacts::Artifact> PullArtifact(const std::string& text,
                                                  const std::vector<engines::Directory>& guest_folders) {
  static Tags tags;
  const auto reference = artifacts::ParseReference(text);
  if (!reference) return std::unexpected(reference.error());
  if (auto checked = CheckGuestFolders(guest_folders); !checked) return std::unexpected(checked.error());
  const Progress progress("pulling " + text);
  auto artifact = artifacts::Pull(tags.Pin(*reference),
                                  {.warn = [](const std::string& what) { Log(WASINN_LOG_WARNING, what.c_str()); }});
  if (artifact && reference->digest.empty() && tags.AddForReport(*reference, artifact->pinned.digest)) {
    Log(WASINN_LOG_INFO, fmt::format("{} is {}", text, ToString(artifact->pinned)).c_str());
  }
  return artifact;
}

engines::Result<std::string> LocalModel(const std::string& path, const std::vector<engines::Directory>& guest_folders) {
  if (!artifacts::IsReference(path)) return path;
  auto artifact = PullArtifact(path, guest_folders);
  if (!artifact) return std::unexpected(artifact.error());
  return artifact->path;
}

engines::Result<std::string> LocalGuest(const std::string& path, const std::vector<engines::Directory>& guest_folders) {
  auto local = LocalModel(path, guest_folders);
  std::error_code ignored;
  if (!local || !artifacts::IsReference(path) || !std::filesystem::is_directory(*local, ignored)) return local;
  return std::unexpected(path + " has several files: name the guest's by #FILE");
}

std::string NameOfPath(const std::string& path) {
  if (!artifacts::IsReference(path)) return settings::LastComponent(path);
  const auto reference = artifacts::ParseReference(path);
  return reference ? reference->Name() : path;  // its user reports the error
}

engines::Result<std::vector<ArtifactKey>> ArtifactKeysOf(const std::string& config_file) {
  std::vector<ArtifactKey> keys;
  if (config_file.empty()) return keys;
  try {
    const toml::table file = toml::parse_file(config_file);
    static constexpr std::pair<const char*, const char*> kPlaces[] = {
        {"models", "path"}, {"routes", "file"}, {"guest_models", "file"}};
    for (const auto& [section, key] : kPlaces) {
      if (auto added = AddKeys(file, section, key, keys); !added) {
        return std::unexpected(config_file + ": " + added.error());
      }
    }
  } catch (const toml::parse_error& error) {
    return std::unexpected(fmt::format("{}: {}", config_file, error.description()));
  }
  return keys;
}

}  // namespace wasinn::cli
