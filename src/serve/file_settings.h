// The server's part of the configuration: [serve], [routes."/path"], [guest_models.NAME] and [tenants.NAME].
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "serve/oip/inference.h"

namespace wasinn::serve {

struct ServeOptions;

// A guest that answers clients.
struct GuestFile {
  std::string file;
  // Its own [policy] and [limits], as TOML, which override the file's. "": it has those of the asking tenant.
  std::string policy;
  bool has_limits = false;          // else it has those of the asking tenant
  std::vector<std::string> models;  // named in this policy, if it names any
};

// How long an instance stays.
struct Reuse {
  size_t requests = 1;
  size_t at_once = 1;  // of these
  std::chrono::milliseconds idle{1000};
  bool Stays() const { return requests > 1; }
  bool operator==(const Reuse&) const = default;
  // The others say nothing of instances that end after one request.
  bool HasEffect() const { return Stays() || *this == Reuse(); }
};

struct RouteSettings : GuestFile {
  bool is_public = false;  // clients need no key
  std::vector<engines::Directory> directories;
  std::map<std::string, std::string> env;
  Reuse reuse;
};

std::vector<engines::Directory> FoldersOf(const std::map<std::string, RouteSettings>& routes);

using KeyDigest = std::array<uint8_t, 32>;  // SHA-256

struct TenantSettings {
  std::vector<KeyDigest> keys;
  bool is_operator = false;         // may load and unload models, and sees the server's state
  size_t max_requests = 0;          // of its own at once; 0: no limit
  std::string guest_toml;           // its [limits] and [policy], which override the file's
  std::vector<std::string> models;  // named in this policy, if it names any
};

// The host's part as TOML, for comparison with the last one.
struct HostSections {
  std::string guests;  // [limits], [policy] and [engine], and the folders of backends
  std::string others;  // except for [serve], [routes], [guest_models] and [tenants]
  std::string serve;
};

// Only sets options that the file names. Relative paths are relative to the file's folder. Throws INVALID_ARGUMENT,
// which names the file and the key, or NOT_FOUND: there is no such file.
void ReadServeFile(const std::string& path, ServeOptions& options);

// The owners of API keys are the only tenant, and operators. Throws Failure.
void TakeApiKeys(ServeOptions& options);

}  // namespace wasinn::serve
