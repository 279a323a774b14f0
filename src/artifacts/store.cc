#include "artifacts/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <system_error>

#include "artifacts/digest.h"
#include "engines/read_file.h"

namespace wasinn::artifacts {
namespace {

namespace fs = std::filesystem;
using engines::OpenFile;

constexpr char kFolder[] = "wasinn-artifacts", kManifest[] = "manifest.json", kFiles[] = "files",
               kChecked[] = "checked";
constexpr std::string_view kArrival = ".arrival-", kKept = "sha256-";

std::unexpected<std::string> Failed(const std::string& what, const std::string& why) {
  return std::unexpected(fmt::format("{}: {}", what, why));
}

std::unexpected<std::string> FailedBySystem(const std::string& what) { return Failed(what, std::strerror(errno)); }

std::string NameOf(const std::string& digest) { return std::string(kKept) + std::string(HexOf(digest)); }

// Opens a regular file that is no link.
OpenFile OpenRegular(const fs::path& path, struct stat* its) {
  OpenFile file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file || fstat(file.get(), its) != 0 || !S_ISREG(its->st_mode)) return OpenFile(-1);
  return file;
}

// The error in a file; "": it matches the blob.
std::string WrongFile(const fs::path& path, const Blob& blob) {
  struct stat its = {};
  const OpenFile file = OpenRegular(path, &its);
  if (!file) return fmt::format("{} is not there, or is no file", blob.digest);
  if (static_cast<uint64_t>(its.st_size) != blob.size) {
    return fmt::format("{} has {} bytes, and should have {}", blob.digest, its.st_size, blob.size);
  }
  const std::string digest = DigestOfFile(file.get());
  return digest == blob.digest ? "" : fmt::format("the digest of {} is {}", blob.digest, digest);
}

// Differs for any two files, and changes when a file is written.
std::string IdentityOf(const fs::path& path) {
  struct stat its = {};
  if (!OpenRegular(path, &its)) return "";
  return fmt::format("{} {} {}.{:09} {}.{:09}\n", its.st_ino, its.st_size, its.st_mtim.tv_sec, its.st_mtim.tv_nsec,
                     its.st_ctim.tv_sec, its.st_ctim.tv_nsec);
}

// For all files, in their order; "": one is missing.
std::string IdentitiesOf(const Manifest& manifest, const fs::path& files) {
  std::string all;
  for (const ArtifactFile& file : manifest.files) {
    const std::string one = IdentityOf(files / file.path);
    if (one.empty()) return "";
    all += one;
  }
  return all;
}

bool Write(const fs::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  return bool(file);
}

// Written under another name first, so that no reader sees a part. If that fails, files are hashed again next time.
void WriteChecked(const fs::path& folder, const std::string& identities) {
  const fs::path temporary = folder / fmt::format("{}.{}", kChecked, getpid());
  std::error_code ignored;
  if (Write(temporary, identities)) fs::rename(temporary, folder / kChecked, ignored);
  fs::remove(temporary, ignored);
}

std::string ReadSmall(const fs::path& path, uint64_t most) {
  std::error_code failed;
  const uint64_t size = fs::file_size(path, failed);
  if (failed || size > most) return "";
  return engines::ReadFile(path.string()).value_or("");
}

// The error in a folder; "": none. An additional file could be taken for a part of a model. The folder may be removed
// in the meantime, so nothing here throws; a folder that cannot be read counts as wrong.
std::string WrongFolder(const Manifest& manifest, const fs::path& files) {
  std::set<std::string> known;
  for (const ArtifactFile& file : manifest.files) known.insert(file.path);
  std::error_code failed;
  fs::recursive_directory_iterator entry(files, failed);
  for (const fs::recursive_directory_iterator end; !failed && entry != end; entry.increment(failed)) {
    const std::string path = entry->path().lexically_relative(files).string();
    std::error_code gone;
    const bool is_folder = entry->symlink_status(gone).type() == fs::file_type::directory;
    if (!is_folder && !known.contains(path)) return fmt::format("'{}' is no file of it", path);
  }
  return failed ? "its folder cannot be read: " + failed.message() : "";
}

// Checks the content of a folder. An error describes the problem.
Result<Kept> Check(const fs::path& folder, const std::string& digest) {
  const std::string bytes = ReadSmall(folder / kManifest, Manifest::kMaxBytes);
  if (DigestOf(bytes) != digest) return std::unexpected("its manifest is not what its digest says");
  Result<Manifest> manifest = ParseManifest(bytes);
  if (!manifest) return std::unexpected(manifest.error());
  const fs::path files = folder / kFiles;
  if (std::string wrong = WrongFolder(*manifest, files); !wrong.empty()) return std::unexpected(std::move(wrong));
  const std::string identities = IdentitiesOf(*manifest, files);
  constexpr uint64_t kMaxIdentity = 128;
  const bool is_known =
      !identities.empty() && identities == ReadSmall(folder / kChecked, kMaxIdentity * (Manifest::kMaxLayers + 1));
  for (const ArtifactFile& file : manifest->files) {
    if (is_known) break;
    if (const std::string wrong = WrongFile(files / file.path, file.blob); !wrong.empty()) {
      return std::unexpected(fmt::format("its file '{}': {}", file.path, wrong));
    }
  }
  if (!is_known) WriteChecked(folder, identities);
  utimensat(AT_FDCWD, folder.c_str(), nullptr, 0);  // marks the time of use
  return Kept{std::move(*manifest), files};
}

// Exchanges `from` and `to`, which may not exist: no reader ever sees a part of either.
bool PutInPlace(const fs::path& from, const fs::path& to) {
  if (rename(from.c_str(), to.c_str()) == 0) return true;
  if (errno != EEXIST && errno != ENOTEMPTY) return false;
  return renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0;
}

// The arrival of a running process is locked.
void RemoveDead(const fs::path& arrival) {
  const OpenFile folder(open(arrival.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  std::error_code ignored;
  if (folder && flock(folder.get(), LOCK_EX | LOCK_NB) == 0) fs::remove_all(arrival, ignored);
}

}  // namespace

Result<Store> Store::Open() {
  Result<fs::path> path = engines::UsersCacheFolder(kFolder);
  if (!path) return std::unexpected(path.error());
  Result<OpenFile> folder = engines::OpenOwnFolder(*path);
  if (!folder) return std::unexpected(folder.error());
  return Store(std::move(*path), std::move(*folder));
}

Result<std::optional<Kept>> Store::Find(const std::string& digest) const {
  const fs::path folder = path_ / NameOf(digest);
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(folder, ignored))) return std::nullopt;
  Result<Kept> kept = Check(folder, digest);
  if (!kept) return Failed(folder.string(), kept.error());
  return std::optional(std::move(*kept));
}

Store::Arrival::~Arrival() {
  std::error_code ignored;
  if (lock_) fs::remove_all(path_, ignored);
}

Result<Store::Arrival> Store::MakeArrival() const {
  // Prevents the removal of a new arrival before its lock.
  const OpenFile turn(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!turn || flock(turn.get(), LOCK_EX) != 0) return FailedBySystem(path_.string());
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, failed)) {
    if (entry.path().filename().string().starts_with(kArrival)) RemoveDead(entry.path());
  }
  std::string path = (path_ / kArrival).string() + "XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return FailedBySystem("cannot make a folder in " + path_.string());
  OpenFile lock(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return FailedBySystem(path);
  return Arrival(std::move(path), std::move(lock));
}

Result<Kept> Store::Keep(const Arrival& arrival, const fs::path& layout, const std::string& digest,
                         std::string_view manifest_bytes) const {
  if (DigestOf(manifest_bytes) != digest) return std::unexpected("the manifest is not what its digest says");
  Result<Manifest> manifest = ParseManifest(manifest_bytes);
  if (!manifest) return std::unexpected(manifest.error());
  const fs::path blobs = layout / "blobs" / "sha256", made = arrival.path() / "made", files = made / kFiles;
  const auto blob_path = [&](const Blob& blob) { return blobs / HexOf(blob.digest); };
  for (const Blob& blob : manifest->blobs) {
    if (std::string wrong = WrongFile(blob_path(blob), blob); !wrong.empty()) return std::unexpected(std::move(wrong));
  }
  std::error_code failed;
  for (const ArtifactFile& file : manifest->files) {
    fs::create_directories((files / file.path).parent_path(), failed);
    // Two files may be one blob.
    if (!failed) fs::create_hard_link(blob_path(file.blob), files / file.path, failed);
    if (failed) return Failed(fmt::format("cannot keep '{}'", file.path), failed.message());
  }
  if (!Write(made / kManifest, manifest_bytes)) return FailedBySystem("cannot write " + (made / kManifest).string());
  fs::remove_all(layout, failed);  // changes the times of the linked files
  WriteChecked(made, IdentitiesOf(*manifest, files));
  // Everything is on the disk before it gets its name, so a crash of the machine does no harm.
  if (syncfs(folder_.get()) != 0 || !PutInPlace(made, path_ / NameOf(digest))) {
    return FailedBySystem("cannot keep it in " + path_.string());
  }
  return Kept{std::move(*manifest), path_ / NameOf(digest) / kFiles};
}

Result<std::vector<std::string>> Store::Prune(std::chrono::seconds unused) const {
  const Result<Arrival> arrival = MakeArrival();
  if (!arrival) return std::unexpected(arrival.error());
  std::vector<std::string> digests;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, failed)) {
    const std::string name = entry.path().filename().string();
    const auto used = entry.last_write_time(failed);
    if (!name.starts_with(kKept) || failed || fs::file_time_type::clock::now() - used < unused) continue;
    // No reader sees a part of it.
    fs::rename(entry.path(), arrival->path() / name, failed);
    if (!failed) digests.push_back("sha256:" + name.substr(kKept.size()));
  }
  return digests;
}

}  // namespace wasinn::artifacts
