#include "cli/own_prefix.h"

namespace wasinn::cli {
namespace {

namespace fs = std::filesystem;

// "": without /proc, so that no file of it is found.
fs::path InPrefix(const char* from_bin) {
  std::error_code failed;
  const fs::path own = OwnPath(failed);
  return failed ? fs::path() : (own.parent_path() / from_bin).lexically_normal();
}

}  // namespace

fs::path OwnPath(std::error_code& failed) { return fs::read_symlink("/proc/self/exe", failed); }

fs::path SourceFolder() {
  const fs::path source = InPrefix("../../..");  // of build/PRESET/bin
  std::error_code ignored;
  return fs::exists(source / "scripts" / "deps.sh", ignored) ? source : fs::path();
}

fs::path BackendFolder() { return InPrefix(WASINN_BACKENDS_FROM_BIN); }
fs::path ShareFolder() { return InPrefix(WASINN_SHARE_FROM_BIN); }
fs::path KitFolder() { return InPrefix(WASINN_KIT_FROM_BIN); }

}  // namespace wasinn::cli
