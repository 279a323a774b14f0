// What was pulled, kept by its digest in a folder of the user's: STORE/sha256-HEX/{manifest.json,files/…,checked}.
//
// Whoever finds something has it checked against its digest: by the hash of each file, or, since that takes as long as reading gigabytes,
// by whether each is the very file that was hashed: its inode, size and times.
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
  // $XDG_CACHE_HOME/wasinn-artifacts, or ~/.cache/wasinn-artifacts, for this user alone: made if it is not there.
  static Result<Store> Open();

  const std::filesystem::path& path() const { return path_; }

  // Nothing if it is not there. An error if it is, and is not what its digest says.
  Result<std::optional<Kept>> Find(const std::string& digest) const;

  // A folder for what is on its way here. It goes with this object, or, where this process is killed, when the next one is made.
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
    engines::OpenFile lock_;  // of one that lives
  };
  Result<Arrival> MakeArrival() const;

  // Takes the blobs of an OCI layout in an arrival, each checked against the manifest, whose bytes have this digest. All of it, or nothing;
  // it takes the place of what else is kept under the digest.
  Result<Kept> Keep(const Arrival& arrival, const std::filesystem::path& layout, const std::string& digest,
                    std::string_view manifest_bytes) const;

  // Removes what nobody has found for so long. Their digests.
  Result<std::vector<std::string>> Prune(std::chrono::seconds unused) const;

 private:
  Store(std::filesystem::path path, engines::OpenFile folder) : path_(std::move(path)), folder_(std::move(folder)) {}

  std::filesystem::path path_;
  engines::OpenFile folder_;
};

}  // namespace wasinn::artifacts
