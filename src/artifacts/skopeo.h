// Runs the program skopeo, which talks to registries. Its own files decide about trust and keys: auth.json, certs.d,
// registries.conf and policy.json of containers.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "artifacts/reference.h"

namespace wasinn::artifacts {

class Skopeo {
 public:
  // For an answer without blobs. Blobs have more time, at the pace of a slow registry.
  static constexpr std::chrono::milliseconds kPatience{60'000};
  static constexpr uint64_t kSlowest = 100'000;  // bytes a second
  // The limit of that time for a tag's sizes, which are the registry's claims: the bytes may never come.
  static constexpr std::chrono::milliseconds kMaxPatience = std::chrono::hours(24);

  // The sizes of a manifest's blobs.
  struct Sizes {
    uint64_t total, largest;
    bool are_claims;  // false: the caller named the digest and so accepts them
  };

  static Result<Skopeo> Find(std::chrono::milliseconds patience = kPatience);

  // The registry's manifest, not checked.
  Result<std::string> ReadManifest(const Reference& reference) const;
  // Copies all blobs of a digest, not checked, to files FOLDER/layout/blobs/sha256/HEX.
  Result<void> CopyTo(const Reference& reference, const std::string& folder, const Sizes& sizes) const;
  // The time limit for that.
  std::chrono::milliseconds PatienceFor(const Sizes& sizes) const;

 private:
  Skopeo(std::string program, std::chrono::milliseconds patience) : program_(std::move(program)), patience_(patience) {}

  std::string program_;
  std::chrono::milliseconds patience_;
};

}  // namespace wasinn::artifacts
