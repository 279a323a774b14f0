// Compiled code of modules, in a folder of the user. It is native code, so the folder is only the user's, no guest may
// use it, and only files that were written with the folder's key are read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/engine.h"

namespace wasinn::engines {

class ModuleCache {
 public:
  static constexpr uint64_t kMaxBytes = uint64_t{512} << 20;  // the files with the oldest use are removed first

  // $XDG_CACHE_HOME/wasinn-code, or ~/.cache/wasinn-code, created if it is missing. An error: why there is none.
  static Result<std::unique_ptr<ModuleCache>> Open(const std::vector<Directory>& guest_folders);
  ~ModuleCache();
  ModuleCache(const ModuleCache&) = delete;
  ModuleCache& operator=(const ModuleCache&) = delete;

  // The result of `maker` for a module; no value if it is missing, or was changed. `maker` names a compiler with its
  // version and settings. Thread-safe.
  std::optional<std::string> Find(std::string_view maker, std::string_view wasm) const;
  Result<void> Keep(std::string_view maker, std::string_view wasm, std::string_view code) const;

 private:
  using Bytes32 = std::array<uint8_t, 32>;
  ModuleCache() = default;
  Result<void> ReadKey(int folder);
  static Result<void> MakeKey(int folder);
  Bytes32 TagOf(std::string_view digest, std::string_view code) const;
  void Trim() const;

  int modules_ = -1;  // the folder
  Bytes32 key_ = {};
};

}  // namespace wasinn::engines
