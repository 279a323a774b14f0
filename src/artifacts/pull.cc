#include "artifacts/pull.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "artifacts/digest.h"
#include "artifacts/store.h"

namespace wasinn::artifacts {
namespace {

namespace fs = std::filesystem;

template <typename T>
Result<T> NotPulled(const Reference& reference, const std::string& why) {
  return std::unexpected(fmt::format("{}: {}", ToString(reference), why));
}

// The manifest of a tag or digest. `reference` gets its digest.
Result<std::string> ReadManifest(Reference& reference, const PullOptions& options) {
  const Result<Skopeo> skopeo = Skopeo::Find(options.patience);
  if (!skopeo) return NotPulled<std::string>(reference, skopeo.error());
  Result<std::string> bytes = skopeo->ReadManifest(reference);
  if (!bytes) return bytes;
  const std::string digest = DigestOf(*bytes);
  if (!reference.digest.empty() && digest != reference.digest) {
    return NotPulled<std::string>(reference, "the registry's manifest has the digest " + digest);
  }
  reference = reference.At(digest);
  return bytes;
}

// `manifest_bytes` have the digest of `reference`. A useless artifact is refused before it is copied.
Result<Kept> Fetch(const Store& store, const Reference& reference, const std::string& manifest_bytes,
                   const PullOptions& options, bool is_of_tag) {
  const Result<Manifest> manifest = ParseManifest(manifest_bytes);
  if (!manifest) return NotPulled<Kept>(reference, manifest.error());
  const uint64_t total = manifest->TotalBytes();
  std::error_code unknown;
  if (const fs::space_info space = fs::space(store.path(), unknown); !unknown && space.available < total) {
    return NotPulled<Kept>(reference, fmt::format("it has {} bytes, and there is room for {} in {}", total,
                                                  space.available, store.path().string()));
  }
  const Result<Store::Arrival> arrival = store.MakeArrival();
  if (!arrival) return NotPulled<Kept>(reference, arrival.error());
  const Result<Skopeo> skopeo = Skopeo::Find(options.patience);
  if (!skopeo) return NotPulled<Kept>(reference, skopeo.error());
  const Skopeo::Sizes sizes{.total = total, .largest = manifest->LargestBytes(), .are_claims = is_of_tag};
  const Result<void> copied = skopeo->CopyTo(reference, arrival->path().string(), sizes);
  if (!copied) return std::unexpected(copied.error());
  Result<Kept> kept = store.Keep(*arrival, arrival->path() / "layout", reference.digest, manifest_bytes);
  if (!kept) return NotPulled<Kept>(reference, kept.error());
  return kept;
}

Result<Artifact> Choose(const Reference& reference, Kept kept) {
  Artifact artifact{.pinned = reference, .folder = kept.folder.string(), .bytes = kept.manifest.TotalBytes()};
  const std::string chosen = reference.file.empty() ? kept.manifest.MainPath() : reference.file;
  artifact.path = chosen.empty() ? artifact.folder : (kept.folder / chosen).string();
  artifact.files = std::move(kept.manifest.files);
  std::error_code ignored;
  if (fs::exists(artifact.path, ignored)) return artifact;
  std::string names;
  for (const ArtifactFile& file : artifact.files) {
    if (names.size() < 1000) names += (names.empty() ? "" : ", ") + file.path;
  }
  return NotPulled<Artifact>(reference, fmt::format("it has no file '{}'; it has {}", chosen, names));
}

}  // namespace

Result<Artifact> Pull(const Reference& asked, const PullOptions& options) {
  const Result<Store> store = Store::Open();
  if (!store) return NotPulled<Artifact>(asked, store.error());
  Reference reference = asked.digest.empty() ? asked : asked.At(asked.digest);
  std::optional<std::string> manifest;
  if (reference.digest.empty()) {
    Result<std::string> read = ReadManifest(reference, options);
    if (!read) return std::unexpected(read.error());
    manifest = std::move(*read);
  }
  Result<std::optional<Kept>> found = store->Find(reference.digest);
  if (found && found->has_value()) return Choose(reference, std::move(**found));
  if (!found && options.warn) options.warn(found.error() + ": pulling it again");
  if (!manifest) {
    Result<std::string> read = ReadManifest(reference, options);
    if (!read) return std::unexpected(read.error());
    manifest = std::move(*read);
  }
  Result<Kept> kept = Fetch(*store, reference, *manifest, options, /*is_of_tag=*/asked.digest.empty());
  if (!kept) return std::unexpected(kept.error());
  Result<Artifact> artifact = Choose(reference, std::move(*kept));
  if (artifact) artifact->was_pulled = true;
  return artifact;
}

}  // namespace wasinn::artifacts
