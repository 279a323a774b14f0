#include "engines/module_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "engines/own_folder.h"
#include "engines/trusted_file.h"

namespace wasinn::engines {
namespace {

namespace fs = std::filesystem;

constexpr char kFolder[] = "wasinn-code", kKey[] = "key";

std::unexpected<std::string> Failed(const std::string& what) {
  return std::unexpected(fmt::format("{}: {}", what, std::strerror(errno)));
}

// Whether a file may be so large: writing more would end the process by a signal.
bool MayHold(uint64_t bytes) {
  rlimit most = {};
  if (getrlimit(RLIMIT_FSIZE, &most) != 0 || bytes <= most.rlim_cur) return true;
  errno = EFBIG;
  return false;
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

std::optional<std::string> ReadAll(int fd, uint64_t size) {
  std::string bytes(size, '\0');
  for (size_t at = 0; at < size;) {
    const ssize_t got = read(fd, bytes.data() + at, size - at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    at += static_cast<size_t>(got);
  }
  return bytes;
}

// A new file, which gets its real name when it is complete.
std::string TemporaryName() {
  uint64_t random = 0;
  randombytes_buf(&random, sizeof random);
  return fmt::format(".{:016x}", random);
}

OpenFile Create(int folder, const std::string& name) {
  return OpenFile(openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
}

}  // namespace

Result<std::unique_ptr<ModuleCache>> ModuleCache::Open(const std::vector<Directory>& guest_folders) {
  if (sodium_init() < 0) return std::unexpected("the system gives no random numbers");
  const Result<fs::path> path = UsersCacheFolder(kFolder);
  if (!path) return std::unexpected(path.error());
  const Result<OpenFile> folder = OpenOwnFolder(*path);
  if (!folder) return std::unexpected(folder.error());
  for (const Directory& guests : guest_folders) {
    if (!IsWithin(*path, guests.host) && !IsWithin(guests.host, *path)) continue;
    return std::unexpected(
        fmt::format("a guest may use the folder {}, and they would lie in {}", guests.host, path->string()));
  }
  std::unique_ptr<ModuleCache> cache(new ModuleCache());
  Result<OpenFile> modules = OpenOwnFolder(*path / "modules");
  if (!modules) return std::unexpected(modules.error());
  cache->modules_ = modules->release();
  if (Result<void> key = cache->ReadKey(folder->get()); !key) {
    return std::unexpected(fmt::format("{}/{}: {}", path->string(), kKey, key.error()));
  }
  return cache;
}

ModuleCache::~ModuleCache() {
  if (modules_ >= 0) close(modules_);
}

Result<void> ModuleCache::ReadKey(int folder) {
  constexpr int kHow = O_RDONLY | O_NOFOLLOW | O_CLOEXEC;
  int fd = openat(folder, kKey, kHow);
  if (fd < 0 && errno == ENOENT) {
    if (Result<void> made = MakeKey(folder); !made) return made;
    fd = openat(folder, kKey, kHow);
  }
  const OpenFile file(fd);
  if (!file) return Failed("cannot open it");
  struct stat its = {};
  if (!IsMineAlone(file.get(), &its) || !S_ISREG(its.st_mode)) {
    return std::unexpected("must be a file of this user's own, and closed to all others (mode 0600)");
  }
  const auto bytes = ReadAll(file.get(), key_.size());
  if (!bytes || its.st_size != static_cast<off_t>(key_.size())) return std::unexpected("is not a key: 32 bytes");
  std::memcpy(key_.data(), bytes->data(), key_.size());
  return {};
}

// If two processes make a key at once, both use the first.
Result<void> ModuleCache::MakeKey(int folder) {
  std::string key(sizeof(Bytes32), '\0');
  randombytes_buf(key.data(), key.size());
  const std::string name = TemporaryName();
  const OpenFile file = Create(folder, name);
  if (!file) return Failed("cannot make it");
  const bool written = MayHold(key.size()) && WriteAll(file.get(), key);
  const bool linked = written && (linkat(folder, name.c_str(), folder, kKey, 0) == 0 || errno == EEXIST);
  const int why = errno;
  unlinkat(folder, name.c_str(), 0);
  errno = why;
  return linked ? Result<void>() : Failed("cannot make it");
}

namespace {

std::array<uint8_t, 32> DigestOf(std::string_view maker, std::string_view wasm) {
  std::array<uint8_t, 32> digest = {};
  const uint64_t size = maker.size();
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, digest.size());
  crypto_generichash_update(&state, reinterpret_cast<const uint8_t*>(&size), sizeof size);
  crypto_generichash_update(&state, reinterpret_cast<const uint8_t*>(maker.data()), maker.size());
  crypto_generichash_update(&state, reinterpret_cast<const uint8_t*>(wasm.data()), wasm.size());
  crypto_generichash_final(&state, digest.data(), digest.size());
  return digest;
}

std::string_view View(const std::array<uint8_t, 32>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string NameOf(const std::array<uint8_t, 32>& digest) {
  std::string name(digest.size() * 2 + 1, '\0');
  sodium_bin2hex(name.data(), name.size(), digest.data(), digest.size());
  name.pop_back();
  return name;
}

}  // namespace

// A file is a tag and the tagged content: the digest of the source, and its code.
ModuleCache::Bytes32 ModuleCache::TagOf(std::string_view digest, std::string_view code) const {
  Bytes32 tag = {};
  crypto_generichash_state state;
  crypto_generichash_init(&state, key_.data(), key_.size(), tag.size());
  for (const std::string_view part : {digest, code}) {
    crypto_generichash_update(&state, reinterpret_cast<const uint8_t*>(part.data()), part.size());
  }
  crypto_generichash_final(&state, tag.data(), tag.size());
  return tag;
}

std::optional<std::string> ModuleCache::Find(std::string_view maker, std::string_view wasm) const {
  const Bytes32 digest = DigestOf(maker, wasm);
  const OpenFile file(openat(modules_, NameOf(digest).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat its = {};
  if (!file || fstat(file.get(), &its) != 0 || !S_ISREG(its.st_mode)) return std::nullopt;
  constexpr uint64_t kTag = sizeof(Bytes32), kHead = 2 * kTag;
  const auto size = static_cast<uint64_t>(its.st_size);
  if (size < kHead) return std::nullopt;
  const std::optional<std::string> head = ReadAll(file.get(), kHead);
  std::optional<std::string> code = ReadAll(file.get(), size - kHead);
  if (!head || !code || std::string_view(*head).substr(kTag) != View(digest)) return std::nullopt;
  const Bytes32 tag = TagOf(View(digest), *code);
  if (sodium_memcmp(tag.data(), head->data(), kTag) != 0) return std::nullopt;
  (void)futimens(file.get(), nullptr);  // marks the time of use
  return code;
}

Result<void> ModuleCache::Keep(std::string_view maker, std::string_view wasm, std::string_view code) const {
  const Bytes32 digest = DigestOf(maker, wasm);
  const Bytes32 tag = TagOf(View(digest), code);
  const std::string temporary = TemporaryName(), name = NameOf(digest);
  {
    const OpenFile file = Create(modules_, temporary);
    if (!file) return Failed("cannot write into the folder");
    const bool fits = MayHold(tag.size() + digest.size() + code.size());
    if (fits && WriteAll(file.get(), View(tag)) && WriteAll(file.get(), View(digest)) && WriteAll(file.get(), code) &&
        renameat(modules_, temporary.c_str(), modules_, name.c_str()) == 0) {
      Trim();
      return {};
    }
  }
  const int why = errno;
  unlinkat(modules_, temporary.c_str(), 0);
  errno = why;
  return Failed("cannot write into the folder");
}

void ModuleCache::Trim() const {
  struct Kept {
    timespec used;
    uint64_t size;
    std::string name;
  };
  std::vector<Kept> all;
  uint64_t total = 0;
  const int fd = openat(modules_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* folder = fd < 0 ? nullptr : fdopendir(fd);
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    struct stat its = {};
    if (fstatat(modules_, entry->d_name, &its, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(its.st_mode)) continue;
    all.push_back({its.st_mtim, static_cast<uint64_t>(its.st_size), entry->d_name});
    total += all.back().size;
  }
  closedir(folder);
  std::ranges::sort(all, [](const Kept& a, const Kept& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (size_t i = 0; i < all.size() && total > kMaxBytes; ++i) {
    if (unlinkat(modules_, all[i].name.c_str(), 0) == 0) total -= all[i].size;
  }
}

}  // namespace wasinn::engines
