// The program skopeo, which speaks with registries. Whom it trusts, and by which keys, is settled by its own files: auth.json,
// certs.d, registries.conf and policy.json of containers.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "artifacts/reference.h"

namespace wasinn::artifacts {

class Skopeo {
 public:
  // For an answer without blobs, and for these in addition to their time at a slow registry's pace.
  static constexpr std::chrono::milliseconds kPatience{60'000};
  static constexpr uint64_t kSlowest = 100'000;  // bytes a second
  // That time at most, where the sizes are what a registry claims for a tag: they may never come.
  static constexpr std::chrono::milliseconds kMostPatience = std::chrono::hours(24);

  // What a manifest says of its blobs.
  struct Sizes {
    uint64_t total, largest;
    bool are_claims;  // false: whoever named the digest means them
  };

  static Result<Skopeo> Find(std::chrono::milliseconds patience = kPatience);

  // A manifest as the registry has it, not checked.
  Result<std::string> ReadManifest(const Reference& reference) const;
  // All blobs of what a digest names, not checked, as files FOLDER/layout/blobs/sha256/HEX.
  Result<void> CopyTo(const Reference& reference, const std::string& folder, const Sizes& sizes) const;
  // How long that may take.
  std::chrono::milliseconds PatienceFor(const Sizes& sizes) const;

 private:
  Skopeo(std::string program, std::chrono::milliseconds patience) : program_(std::move(program)), patience_(patience) {}

  std::string program_;
  std::chrono::milliseconds patience_;
};

}  // namespace wasinn::artifacts
