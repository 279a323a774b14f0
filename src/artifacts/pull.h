// Fetches the files of a reference.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "artifacts/manifest.h"
#include "artifacts/reference.h"
#include "artifacts/skopeo.h"

namespace wasinn::artifacts {

struct Artifact {
  Reference pinned;    // the reference by digest
  std::string path;    // the file or folder that the reference chose, or the main one
  std::string folder;  // of all its files
  std::vector<ArtifactFile> files;
  uint64_t bytes = 0;       // of all content
  bool was_pulled = false;  // else it was in the store
};

struct PullOptions {
  std::chrono::milliseconds patience = Skopeo::kPatience;
  std::function<void(const std::string&)> warn;  // for repairs of the store
};

// From the store, if it has the digest; else from the registry. The registry is asked for a tag each time.
Result<Artifact> Pull(const Reference& reference, const PullOptions& options);

}  // namespace wasinn::artifacts
