// A registry's manifest and an operator's reference: names that become paths here, digests and sizes.
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "artifacts/digest.h"
#include "artifacts/manifest.h"
#include "artifacts/reference.h"
#include "fuzz/expect.h"

namespace artifacts = wasinn::artifacts;

namespace {

// Whether the path stays in the folder that it is relative to.
bool LiesWithin(const std::string& path) {
  const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
  return !normal.empty() && normal.is_relative() && *normal.begin() != ".." && normal.string() == path;
}

void CheckManifest(const artifacts::Manifest& manifest) {
  FUZZ_EXPECT(!manifest.files.empty() && manifest.blobs.size() > manifest.files.size());
  FUZZ_EXPECT(manifest.blobs.size() <= artifacts::Manifest::kMaxLayers + 1);
  FUZZ_EXPECT(manifest.TotalBytes() >= manifest.LargestBytes());
  std::set<std::string> paths;
  for (const artifacts::ArtifactFile& file : manifest.files) {
    FUZZ_EXPECT(LiesWithin(file.path) && paths.insert(file.path).second);
    FUZZ_EXPECT(artifacts::IsDigest(file.blob.digest) && file.blob.size <= manifest.LargestBytes());
  }
  FUZZ_EXPECT(manifest.MainPath().empty() || paths.contains(manifest.MainPath()));
}

void CheckReference(const artifacts::Reference& reference) {
  FUZZ_EXPECT(!reference.registry.empty() && !reference.repository.empty());
  FUZZ_EXPECT(!reference.tag.empty() || artifacts::IsDigest(reference.digest));
  FUZZ_EXPECT(reference.file.empty() || LiesWithin(reference.file));
  const std::string text = ToString(reference);
  const auto again = artifacts::ParseReference(text);
  FUZZ_EXPECT(again && ToString(*again) == text);
  FUZZ_EXPECT(text.find_first_of(" \n\"'$`;&|\\") == text.npos || !reference.file.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto manifest = artifacts::ParseManifest(text);
  FUZZ_EXPECT(manifest || !manifest.error().empty());
  if (manifest) CheckManifest(*manifest);
  const auto reference = artifacts::ParseReference(text);
  FUZZ_EXPECT(reference || !reference.error().empty());
  if (reference) CheckReference(*reference);
  return 0;
}
