#include "artifacts/skopeo.h"

#include <fmt/format.h>

#include <algorithm>

#include "artifacts/manifest.h"
#include "artifacts/program.h"

namespace wasinn::artifacts {
namespace {

// For the files that it writes in addition to blobs.
constexpr uint64_t kSmallFile = 16u << 20;

// Skopeo refuses a tag next to a digest.
std::string AsDocker(const Reference& reference) {
  const std::string which = reference.digest.empty() ? ":" + reference.tag : "@" + reference.digest;
  return fmt::format("docker://{}/{}{}", reference.registry, reference.repository, which);
}

Result<std::string> Run(const Reference& reference, const ProgramRun& run) {
  Result<std::string> printed = RunProgram(run);
  if (printed) return printed;
  return std::unexpected(fmt::format("cannot pull {}: {}", ToString(reference), printed.error()));
}

}  // namespace

Result<Skopeo> Skopeo::Find(std::chrono::milliseconds patience) {
  std::string program = FindProgram("skopeo");
  if (!program.empty()) return Skopeo(std::move(program), patience);
  return std::unexpected(
      "skopeo pulls from OCI registries, and is in no folder of PATH: `apt install skopeo` installs it");
}

Result<std::string> Skopeo::ReadManifest(const Reference& reference) const {
  return Run(reference, {.command = {program_, "inspect", "--raw", AsDocker(reference)},
                         .timeout = patience_,
                         .most_file_bytes = kSmallFile,
                         .most_output_bytes = Manifest::kMaxBytes});
}

std::chrono::milliseconds Skopeo::PatienceFor(const Sizes& sizes) const {
  const auto slow = std::chrono::milliseconds(sizes.total / (kSlowest / 1000));
  return patience_ + (sizes.are_claims ? std::min(slow, kMaxPatience) : slow);
}

Result<void> Skopeo::CopyTo(const Reference& reference, const std::string& folder, const Sizes& sizes) const {
  // A path of its own could contain a colon, which skopeo takes for the beginning of a tag.
  const Result<std::string> copied =
      Run(reference, {.command = {program_, "copy", "--quiet", "--preserve-digests", AsDocker(reference), "oci:layout"},
                      .folder = folder,
                      .timeout = PatienceFor(sizes),
                      .most_file_bytes = sizes.largest + kSmallFile,
                      .most_output_bytes = kSmallFile});
  if (!copied) return std::unexpected(copied.error());
  return {};
}

}  // namespace wasinn::artifacts
