// What a reference names, as files here.
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
  Reference pinned;    // what it is under, by its digest
  std::string path;    // the file or folder that the reference chose, or that is the main one
  std::string folder;  // of all its files
  std::vector<ArtifactFile> files;
  uint64_t bytes = 0;       // of all that comes with it
  bool was_pulled = false;  // else it was here
};

struct PullOptions {
  std::chrono::milliseconds patience = Skopeo::kPatience;
  std::function<void(const std::string&)> warn;  // what was mended
};

// From the store, if it has what the digest names; else from the registry. A tag is asked for at the registry each time.
Result<Artifact> Pull(const Reference& reference, const PullOptions& options);

}  // namespace wasinn::artifacts
