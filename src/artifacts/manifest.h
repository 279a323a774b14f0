// What an OCI manifest says of an artifact: which files it has, and by which digests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "artifacts/reference.h"

namespace wasinn::artifacts {

struct Blob {
  std::string digest;
  uint64_t size = 0;
};

struct ArtifactFile {
  std::string path;  // safe, relative, no one's twice
  Blob blob;
  bool is_main = true;  // a guest, or the weights of a model; else what stands beside it, as a tokenizer's settings
};

struct Manifest {
  static constexpr uint64_t kMostBytes = 4u << 20;  // as registries have it
  static constexpr size_t kMostLayers = 1000;

  std::vector<Blob> blobs;          // all that comes with it
  std::vector<ArtifactFile> files;  // what of that is used

  uint64_t TotalBytes() const;
  uint64_t LargestBytes() const;
  // The one that a host is to be given, a file or a folder's path in the artifact; "": all of it.
  std::string MainPath() const;
};

// Reads a guest (CNCF's layout of wasm), a model (ModelPack) or named files (as `oras push` makes them). An error says what else it is.
Result<Manifest> ParseManifest(std::string_view bytes);

}  // namespace wasinn::artifacts
