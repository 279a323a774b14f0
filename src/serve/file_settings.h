// What the configuration file says of the server: [serve], [routes."/path"], [guest_models.NAME] and [tenants.NAME]. The rest of it is the host's.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "serve/oip/inference.h"

namespace wasinn::serve {

struct ServeOptions;

// A guest that answers clients.
struct GuestFile {
  std::string file;
  // A [policy] and [limits] of its own, as TOML, which beat the file's. "": it has the asking tenant's.
  std::string policy;
  bool has_limits = false;          // else it has the asking tenant's
  std::vector<std::string> models;  // that this policy names, if it names any
};

struct RouteSettings : GuestFile {
  bool is_public = false;  // whoever asks needs no key
  std::vector<engines::Directory> directories;
  std::map<std::string, std::string> env;
};

std::vector<engines::Directory> FoldersOf(const std::map<std::string, RouteSettings>& routes);

using KeyDigest = std::array<uint8_t, 32>;  // SHA-256

struct TenantSettings {
  std::vector<KeyDigest> keys;
  bool is_operator = false;         // may load and unload models, and sees what the server does
  size_t max_requests = 0;          // of its own at once; 0: any number
  std::string guest_toml;           // its [limits] and [policy], which beat the file's
  std::vector<std::string> models;  // that this policy names, if it names any
};

// What it says of the host, as TOML, to be compared with what it said before.
struct HostSections {
  std::string guests;  // [limits], [policy] and [engine], and where backends are
  std::string others;  // but for [serve], [routes], [guest_models] and [tenants]
  std::string serve;
};

// Fills what the file names, and nothing else. Relative paths are relative to the file's folder. INVALID_ARGUMENT names the file and
// the key; NOT_FOUND: there is no such file.
Outcome<void> ReadServeFile(const std::string& path, ServeOptions& options);

// Who has an API key is the only tenant, and an operator.
Outcome<void> TakeApiKeys(ServeOptions& options);

}  // namespace wasinn::serve
