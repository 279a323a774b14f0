// Paths of models and guests that may be references to OCI registries.
#pragma once

#include <string>
#include <vector>

#include "artifacts/pull.h"
#include "engines/engine.h"

namespace wasinn::cli {

struct HostFlags;

// Pulls a reference, unless it is in the store; reports on stderr the digest of a tag. In one OS process a tag keeps
// its digest. No guest's folder may contain the store, or be inside of it.
engines::Result<artifacts::Artifact> PullArtifact(const std::string& reference,
                                                  const std::vector<engines::Directory>& guest_folders);

// The path itself if it is no reference; else the local path, which for a guest is a file.
engines::Result<std::string> LocalModel(const std::string& path, const std::vector<engines::Directory>& guest_folders);
engines::Result<std::string> LocalGuest(const std::string& path, const std::vector<engines::Directory>& guest_folders);

// The default name of a model or guest: that of the file or the repository.
std::string NameOfPath(const std::string& path);

// A path that is a reference, and its key: models.NAME.path, routes./PATH.file or guest_models.NAME.file.
struct ArtifactKey {
  std::string section, name, key, reference;
};

// The references of a configuration file. An error names a key whose reference has no digest: a tag may change, and the
// content that a file configures must not.
engines::Result<std::vector<ArtifactKey>> ArtifactKeysOf(const std::string& config_file);

}  // namespace wasinn::cli
