// Paths of models and guests that may be references to OCI registries.
#pragma once

#include <string>
#include <vector>

#include "artifacts/pull.h"
#include "engines/engine.h"

namespace wasinn::cli {

struct HostFlags;

// Pulls what a reference names, unless it is here; says on stderr what a tag stands for. In one OS process a tag stands for the same all
// the time. Guests may use no folder that what is pulled lies in, or that lies in it.
engines::Result<artifacts::Artifact> PullArtifact(const std::string& reference,
                                                  const std::vector<engines::Directory>& guest_folders);

// The path itself if it is no reference; else where that lies here, which for a guest is a file.
engines::Result<std::string> LocalModel(const std::string& path, const std::vector<engines::Directory>& guest_folders);
engines::Result<std::string> LocalGuest(const std::string& path, const std::vector<engines::Directory>& guest_folders);

// What a model or guest is called after: the file, or the repository.
std::string NameOfPath(const std::string& path);

// A path that is a reference, and its key: models.NAME.path, routes./PATH.file or guest_models.NAME.file.
struct ArtifactKey {
  std::string section, name, key, reference;
};

// Those of a configuration file. An error names a key whose reference has no digest: what a tag stands for may change, and what a file
// sets up may not.
engines::Result<std::vector<ArtifactKey>> ArtifactKeysOf(const std::string& config_file);

}  // namespace wasinn::cli
