#include "common/model_cache.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sodium.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>

#include "common/private_folder.h"
#include "common/throw.h"

namespace wasinn::backend {
namespace {

namespace fs = std::filesystem;

constexpr char kKey[] = "key";
// The limit of a message of Protocol Buffers, and of the bytes in memory at once.
constexpr uint64_t kMaxBytes = uint64_t{1} << 31;

[[noreturn]] void Fail(const std::string& what) { Throw(WASINN_ERROR_RUNTIME, "{}: {}", what, std::strerror(errno)); }

// Writing more than that to a file would end the process by a signal.
bool FilesMayBeLarge() {
  rlimit most = {};
  return getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur > kMaxBytes + 32 /* a tag */;
}

bool WriteAll(int fd, ModelCache::Bytes bytes) {
  return base::WriteAll(fd, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// All of a regular file; no value if it is none, too large, or changes during the read.
std::optional<ModelCache::Contents> ReadAll(int fd) {
  struct stat its = {};
  if (fstat(fd, &its) != 0 || !S_ISREG(its.st_mode) || static_cast<uint64_t>(its.st_size) > kMaxBytes) {
    return std::nullopt;
  }
  const auto size = static_cast<size_t>(its.st_size);
  ModelCache::Contents contents(size);
  for (size_t at = 0; at < size;) {
    const ssize_t got = pread(fd, contents.data() + at, size - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    at += static_cast<size_t>(got);
  }
  return contents;
}

// The name of a new file until it is complete.
std::string TemporaryName() {
  uint64_t random = 0;
  randombytes_buf(&random, sizeof random);
  return fmt::format(".{:016x}", random);
}

int Create(int folder, const std::string& name) {
  return openat(folder, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

}  // namespace

// In a few large pages: getting as many small ones takes longer than reading the file.
ModelCache::Contents::Contents(size_t size) : size_(size) {
  constexpr size_t kPage = size_t{2} << 20;
  const size_t whole = (size + kPage - 1) / kPage * kPage;
  data_.reset(static_cast<uint8_t*>(size < kPage ? std::malloc(size + 1) : std::aligned_alloc(kPage, whole)));
  if (data_ == nullptr) throw std::bad_alloc();
  if (size >= kPage) (void)madvise(data_.get(), whole, MADV_HUGEPAGE);
}

ModelCache::ModelCache(const std::string& folder) : path_(folder) {
  if (sodium_init() < 0) Throw(WASINN_ERROR_RUNTIME, "the system gives no random numbers");
  folder_ = OpenPrivateFolder(path_);
  ReadKey();
}

void ModelCache::ReadKey() {
  constexpr int kHow = O_RDONLY | O_NOFOLLOW | O_CLOEXEC;
  base::Descriptor file;
  if (!file.Open(openat(folder_.number(), kKey, kHow)) && errno == ENOENT) {
    MakeKey();
    file.Open(openat(folder_.number(), kKey, kHow));
  }
  if (!file.is_open()) Fail(fmt::format("cannot open {}/{}", path_, kKey));
  const auto contents = ReadAll(file.number());
  if (!contents || contents->bytes().size() != sizeof key_ || !IsMineAlone(file)) {
    Throw(WASINN_ERROR_SECURITY, "{}/{} is not a key of this user's: expected a file of {} bytes, mode 0600", path_,
          kKey, sizeof key_);
  }
  std::memcpy(&key_, contents->data(), sizeof key_);
}

// If two processes make a key at once, both use the first.
void ModelCache::MakeKey() {
  std::array<uint8_t, sizeof(Key)> key = {};
  randombytes_buf(key.data(), key.size());
  const std::string name = TemporaryName();
  base::Descriptor file;
  const bool written = file.Open(Create(folder_.number(), name)) && FilesMayBeLarge() && WriteAll(file.number(), key);
  const bool linked =
      written && (linkat(folder_.number(), name.c_str(), folder_.number(), kKey, 0) == 0 || errno == EEXIST);
  const int why = errno;
  if (file.is_open()) unlinkat(folder_.number(), name.c_str(), 0);
  errno = why;
  if (!linked) Fail(fmt::format("cannot make {}/{}", path_, kKey));
}

// Poly1305 for long parts, because it is ten times as fast as BLAKE2b. Its sums under one key must stay secret, so they
// are hashed.
ModelCache::Hash ModelCache::HashOf(std::string_view text, std::span<const Bytes> sources) const {
  crypto_generichash_state state;
  crypto_generichash_init(&state, key_.of_names.data(), key_.of_names.size(), sizeof(Hash));
  const auto add = [&](const void* data, uint64_t size) {
    crypto_generichash_update(&state, reinterpret_cast<const uint8_t*>(&size), sizeof size);
    crypto_generichash_update(&state, static_cast<const uint8_t*>(data), size);
  };
  add(text.data(), text.size());
  for (const Bytes& source : sources) {
    std::array<uint8_t, crypto_onetimeauth_BYTES> sum = {};
    crypto_onetimeauth(sum.data(), source.data(), source.size(), key_.of_bytes.data());
    const uint64_t size = source.size();
    add(&size, sizeof size);
    add(sum.data(), sum.size());
  }
  Hash hash = {};
  crypto_generichash_final(&state, hash.data(), hash.size());
  return hash;
}

std::string ModelCache::NameOf(std::string_view maker, std::span<const Bytes> sources) const {
  return fmt::format("{:02x}", fmt::join(HashOf(maker, sources), ""));
}

ModelCache::Hash ModelCache::TagOf(const std::string& name, Bytes bytes) const { return HashOf(name, {&bytes, 1}); }

std::optional<ModelCache::Contents> ModelCache::Find(const std::string& name) const {
  base::Descriptor file;
  if (!file.Open(openat(folder_.number(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK))) {
    return std::nullopt;
  }
  std::optional<Contents> contents = ReadAll(file.number());
  if (!contents || contents->bytes().size() <= sizeof(Hash)) return std::nullopt;
  contents->Shorten(sizeof(Hash));
  const Bytes bytes = contents->bytes();
  if (sodium_memcmp(TagOf(name, bytes).data(), bytes.data() + bytes.size(), sizeof(Hash)) != 0) return std::nullopt;
  return contents;
}

ModelCache::Draft::Draft(const ModelCache& cache)
    : cache_(cache), name_(TemporaryName()), path_((fs::path(cache.path_) / name_).string()) {
  if (!FilesMayBeLarge()) Throw(WASINN_ERROR_RUNTIME, "this OS process may not write large files (RLIMIT_FSIZE)");
  if (!file_.Open(Create(cache_.folder_.number(), name_))) Fail("cannot write into " + cache_.path_);
}

ModelCache::Draft::~Draft() {
  if (!kept_) unlinkat(cache_.folder_.number(), name_.c_str(), 0);
}

void ModelCache::Draft::KeepAs(const std::string& name) {
  const auto contents = ReadAll(file_.number());
  const Bytes bytes = contents ? contents->bytes() : Bytes();
  if (bytes.empty()) Throw(WASINN_ERROR_RUNTIME, "nothing was written that can be kept");
  const Hash tag = cache_.TagOf(name, bytes);
  const int folder = cache_.folder_.number();
  kept_ = lseek(file_.number(), 0, SEEK_END) == static_cast<off_t>(bytes.size()) && WriteAll(file_.number(), tag) &&
          renameat(folder, name_.c_str(), folder, name.c_str()) == 0;
  if (!kept_) Fail("cannot write into " + cache_.path_);
}

}  // namespace wasinn::backend
