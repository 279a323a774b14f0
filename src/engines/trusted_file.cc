#include "engines/trusted_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <system_error>

namespace wasinn::engines {

namespace fs = std::filesystem;

namespace {

// Whether a path without links is `folder`, or leads through it.
bool LeadsThrough(fs::path path, const std::string& folder) {
  std::error_code error;
  while (!error && !path.empty()) {
    if (fs::equivalent(path, folder, error)) return true;
    if (path == path.root_path()) return false;
    path = path.parent_path();
  }
  return false;
}

// The folders in which the system looks up names along a path, each without a link: writers of any of them can change
// the target. Links beyond the limit are not followed: then the file cannot be opened either.
std::vector<fs::path> FoldersOnTheWay(const std::string& path) {
  constexpr int kMaxLinks = 40;  // Linux's limit
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  std::deque<fs::path> names(absolute.begin(), absolute.end());
  std::vector<fs::path> folders;
  fs::path at;
  for (int links = 0; !names.empty();) {
    const fs::path name = names.front();
    names.pop_front();
    if (name.is_absolute() || name == ".." || name == "." || name.empty()) {
      at = name.is_absolute() ? name : name == ".." ? at.parent_path() : at;
      continue;
    }
    folders.push_back(at);
    const fs::path target = fs::read_symlink(at / name, error);
    if (error) {
      at /= name;
    } else {
      if (++links > kMaxLinks) break;
      names.insert(names.begin(), target.begin(), target.end());
    }
  }
  return folders;
}

// Whether the file may have another name in that folder.
bool MayHaveANameIn(const std::string& path, const std::string& folder) {
  struct stat file{}, of_folder{};
  return stat(path.c_str(), &file) == 0 && stat(folder.c_str(), &of_folder) == 0 && S_ISREG(file.st_mode) &&
         file.st_nlink > 1 && file.st_dev == of_folder.st_dev;
}

}  // namespace

bool IsWithin(const std::string& inner, const std::string& outer) {
  std::error_code error;
  const fs::path path = fs::canonical(inner, error);
  return !error && LeadsThrough(path, outer);
}

std::optional<std::string> FolderOfGuestsThatHas(const std::string& path, const std::vector<Directory>& folders) {
  std::vector<fs::path> on_the_way = FoldersOnTheWay(path);
  for (const Directory& folder : folders) {
    if (folder.read_only) continue;
    const bool has =
        std::ranges::any_of(on_the_way, [&](const fs::path& one) { return LeadsThrough(one, folder.host); });
    if (has || MayHaveANameIn(path, folder.host)) return folder.host;
  }
  return std::nullopt;
}

Result<void> MayRunCode(const std::string& path, const EngineOptions& options) {
  if (!options.allow_precompiled) {
    return std::unexpected(
        "this is native code, which no sandbox confines: --allow-precompiled runs it (engine.allow_precompiled)");
  }
  const std::optional<std::string> folder = FolderOfGuestsThatHas(path, options.guest_folders);
  if (!folder) return {};
  return std::unexpected(
      fmt::format("this is native code, and the guest may write to it, in the folder {}: add :ro, or keep it in a "
                  "folder that the guest does not "
                  "have, with no other name (hard link) there",
                  *folder));
}

}  // namespace wasinn::engines
