// Compiled code of modules, kept in a folder of the user's. It is native code, so whoever can write it there brings code into
// this process: the folder is the user's alone, no guest may use it, and what is read was written with the folder's key.
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
  static constexpr uint64_t kMostBytes = uint64_t{512} << 20;  // the files that nobody used for longest go first

  // $XDG_CACHE_HOME/wasinn-code, or ~/.cache/wasinn-code: made if it is not there. An error says why there is none to use.
  static Result<std::unique_ptr<ModuleCache>> Open(const std::vector<Directory>& guest_folders);
  ~ModuleCache();
  ModuleCache(const ModuleCache&) = delete;
  ModuleCache& operator=(const ModuleCache&) = delete;

  // What `maker` made of a module; nothing if it is not there, or is not what was kept. `maker` tells a compiler with
  // its version and settings. Any thread.
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
