// The content of an artifact by its OCI manifest: its files and their digests.
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
  std::string path;  // safe, relative, unique
  Blob blob;
  bool is_main = true;  // a guest, or a model's weights; false for files next to them, such as a tokenizer's settings
};

struct Manifest {
  static constexpr uint64_t kMaxBytes = 4u << 20;  // as in registries
  static constexpr size_t kMaxLayers = 1000;

  std::vector<Blob> blobs;          // all content
  std::vector<ArtifactFile> files;  // the useful part of it

  uint64_t TotalBytes() const;
  uint64_t LargestBytes() const;
  // The file or folder in the artifact for a host; "": the whole artifact.
  std::string MainPath() const;
};

// Reads a guest (CNCF's layout of wasm), a model (ModelPack) or named files (`oras push`); refuses other kinds by name.
Result<Manifest> ParseManifest(std::string_view bytes);

}  // namespace wasinn::artifacts
