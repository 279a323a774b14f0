#include "engines/trusted_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace wasinn::engines {

namespace fs = std::filesystem;

namespace {

// Whether a path is another's, or leads through it.
bool LeadsThrough(fs::path path, const std::string& folder) {
  std::error_code error;
  while (!error && !path.empty()) {
    if (fs::equivalent(path, folder, error)) return true;
    if (path == path.root_path()) return false;
    path = path.parent_path();
  }
  return false;
}

}  // namespace

bool IsWithin(const std::string& inner, const std::string& outer) {
  std::error_code error;
  const fs::path path = fs::canonical(inner, error);
  return !error && LeadsThrough(path, outer);
}

Result<void> MayRunCode(const std::string& path, const EngineOptions& options) {
  if (!options.allow_precompiled) {
    return std::unexpected(
        "this is native code, which no sandbox holds: --allow-precompiled runs it (engine.allow_precompiled)");
  }
  for (const Directory& folder : options.guest_folders) {
    // A link there may be replaced as well as a file.
    if (folder.read_only || (!IsWithin(path, folder.host) && !LeadsThrough(fs::absolute(path), folder.host))) continue;
    return std::unexpected(fmt::format(
        "this is native code, and the guest may write to it, in the folder {}: keep it elsewhere, or add :ro",
        folder.host));
  }
  return {};
}

}  // namespace wasinn::engines
