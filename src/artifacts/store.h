// Pulled artifacts, by their digests in a folder of the user: STORE/sha256-HEX/{manifest.json,files/…,checked}.
//
// Each find checks the content against its digest: by the hash of each file, or, since hashing reads gigabytes, by the
// inode, size and times of each file that was hashed before.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "artifacts/manifest.h"
#include "artifacts/reference.h"
#include "engines/own_folder.h"

namespace wasinn::artifacts {

struct Kept {
  Manifest manifest;
  std::filesystem::path folder;  // of its files
};

class Store {
 public:
  // $XDG_CACHE_HOME/wasinn-artifacts, or ~/.cache/wasinn-artifacts, only for this user. It is created if it is missing.
  static Result<Store> Open();

  const std::filesystem::path& path() const { return path_; }

  // No value if it is missing. An error if its content does not match its digest.
  Result<std::optional<Kept>> Find(const std::string& digest) const;

  // A folder for content that is being copied. It is removed with this object or, after a crash, by the next one.
  class Arrival {
   public:
    ~Arrival();
    Arrival(Arrival&&) = default;
    Arrival& operator=(Arrival&&) = delete;
    const std::filesystem::path& path() const { return path_; }

   private:
    friend class Store;
    Arrival(std::filesystem::path path, engines::OpenFile lock) : path_(std::move(path)), lock_(std::move(lock)) {}
    std::filesystem::path path_;
    engines::OpenFile lock_;  // held while this exists
  };
  Result<Arrival> MakeArrival() const;

  // Moves the blobs of an OCI layout from an arrival into the store. Checks each against the manifest, whose bytes have
  // this digest. Keeps all of it, or nothing; replaces other content under the digest.
  Result<Kept> Keep(const Arrival& arrival, const std::filesystem::path& layout, const std::string& digest,
                    std::string_view manifest_bytes) const;

  // Removes content that was not used for this long. Returns the digests.
  Result<std::vector<std::string>> Prune(std::chrono::seconds unused) const;

 private:
  Store(std::filesystem::path path, engines::OpenFile folder) : path_(std::move(path)), folder_(std::move(folder)) {}

  std::filesystem::path path_;
  engines::OpenFile folder_;
};

}  // namespace wasinn::artifacts
