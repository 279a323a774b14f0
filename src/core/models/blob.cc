#include "core/models/blob.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sodium.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "core/isolation/segment.h"

namespace wasinn::core {
namespace {

// Larger files are mapped: frameworks keep weights in a form of their own, and a copy would take as much memory again.
constexpr size_t kLarge = size_t{1} << 30;

// Reads exactly `size` bytes. If the file has become shorter, that is an error, never a wait.
bool ReadAll(int fd, uint8_t* out, size_t size) {
  while (size > 0) {
    ssize_t n = ::read(fd, out, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    out += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

struct File {
  base::Descriptor descriptor;
  uint64_t size;
};

// Opening a pipe without a writer would block for ever; pipes are refused afterwards.
Result<File> Open(const std::string& path) {
  base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info{};
  if (!file.is_open() || ::fstat(file.number(), &info) != 0) {
    return Fail(errno == ENOENT ? WASINN_ERROR_MODEL_NOT_FOUND : WASINN_ERROR_RUNTIME, "cannot open '{}': {}", path,
                std::strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) return Fail(WASINN_ERROR_INVALID_ARGUMENT, "'{}' is not a file", path);
  return File{std::move(file), static_cast<uint64_t>(info.st_size)};
}

}  // namespace

std::shared_ptr<const Blob> Blob::Copy(std::span<const uint8_t> bytes) {
  std::shared_ptr<Blob> blob(new Blob);
  blob->owned_ = std::make_unique_for_overwrite<uint8_t[]>(bytes.size());
  if (!bytes.empty()) std::memcpy(blob->owned_.get(), bytes.data(), bytes.size());
  blob->data_ = blob->owned_.get();
  blob->size_ = bytes.size();
  return blob;
}

Result<std::shared_ptr<const Blob>> Blob::Sealed(Result<isolation::Segment> segment) {
  if (!segment) return std::unexpected(std::move(segment.error()));
  RETURN_IF_ERROR(segment->MapSealed());
  std::shared_ptr<Blob> blob(new Blob);
  blob->sealed_ = std::make_unique<isolation::Segment>(std::move(*segment));
  blob->data_ = blob->sealed_->data();
  blob->size_ = blob->sealed_->size();
  return blob;
}

Result<std::shared_ptr<const Blob>> Blob::CopySealed(std::span<const uint8_t> bytes) {
  return Sealed(isolation::Segment::MakeCopy(bytes));
}

Result<std::shared_ptr<const Blob>> Blob::ReadSealed(const std::string& path) {
  ASSIGN_OR_RETURN(const File file, Open(path));
  Result<std::shared_ptr<const Blob>> blob =
      Sealed(isolation::Segment::MakeCopyOfFile(file.descriptor.number(), file.size));
  if (blob) const_cast<Blob&>(**blob).path_ = path;
  return blob;
}

std::string DigestOf(std::span<const uint8_t> bytes) {
  std::array<uint8_t, crypto_generichash_BYTES> digest = {};
  crypto_generichash(digest.data(), digest.size(), bytes.data(), bytes.size(), nullptr, 0);
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

int Blob::descriptor() const { return sealed_ == nullptr ? -1 : sealed_->descriptor(); }

const std::string& Blob::Digest() const {
  std::call_once(digested_, [this] { digest_ = DigestOf(bytes()); });
  return digest_;
}

std::shared_ptr<const Blob> Blob::OfAddress(const std::string& address) {
  std::shared_ptr<Blob> blob(new Blob);
  blob->path_ = address;
  blob->data_ = reinterpret_cast<const uint8_t*>(blob->path_.data());
  blob->size_ = blob->path_.size();
  return blob;
}

Result<std::shared_ptr<const Blob>> Blob::ReadFile(const std::string& path, bool map) {
  ASSIGN_OR_RETURN(const File file, Open(path));
  std::shared_ptr<Blob> blob(new Blob);
  blob->path_ = path;
  blob->size_ = static_cast<size_t>(file.size);
  if ((map || blob->size_ >= kLarge) && blob->size_ > 0) {
    void* mapping = ::mmap(nullptr, blob->size_, PROT_READ, MAP_PRIVATE, file.descriptor.number(), 0);
    if (mapping == MAP_FAILED) return Fail(WASINN_ERROR_RUNTIME, "cannot map '{}': {}", path, std::strerror(errno));
    blob->mapping_ = mapping;
    blob->data_ = static_cast<const uint8_t*>(mapping);
    return blob;
  }
  blob->owned_ = std::make_unique_for_overwrite<uint8_t[]>(blob->size_);
  blob->data_ = blob->owned_.get();
  if (!ReadAll(file.descriptor.number(), blob->owned_.get(), blob->size_)) {
    return Fail(WASINN_ERROR_RUNTIME, "cannot read '{}' whole: it changed while it was read", path);
  }
  return blob;
}

Result<uint64_t> Blob::FileSize(const std::string& path) {
  ASSIGN_OR_RETURN(const File file, Open(path));
  return file.size;
}

Result<std::shared_ptr<const Blob>> Blob::ReadStart(const std::string& path, size_t most) {
  ASSIGN_OR_RETURN(const File file, Open(path));
  std::vector<uint8_t> start(std::min<uint64_t>(file.size, most));
  if (!ReadAll(file.descriptor.number(), start.data(), start.size())) {
    return Fail(WASINN_ERROR_RUNTIME, "cannot read '{}': it changed while it was read", path);
  }
  return Copy(start);
}

Blob::Blob() = default;

Blob::~Blob() {
  if (mapping_ != nullptr) ::munmap(mapping_, size_);
}

struct BlobView::Owner {
  std::shared_ptr<const Blob> blob;
  std::atomic<int> references{1};

  static void Retain(void* owner) { static_cast<Owner*>(owner)->references.fetch_add(1, std::memory_order_relaxed); }
  static void Release(void* owner) {
    auto* self = static_cast<Owner*>(owner);
    if (self->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete self;
  }
};

const Blob& BlobView::Of(const wasinn_builder& view) { return *static_cast<const Owner*>(view.owner)->blob; }

BlobView::BlobView(std::shared_ptr<const Blob> blob)
    : owner_(new Owner{std::move(blob)}, [](Owner* owner) { Owner::Release(owner); }) {
  const Blob& bytes = *owner_->blob;
  view_ = {.struct_size = sizeof(wasinn_builder),
           .data = bytes.bytes().data(),
           .size = bytes.bytes().size(),
           .path = bytes.path().empty() ? nullptr : bytes.path().c_str(),
           .owner = owner_.get(),
           .retain = &Owner::Retain,
           .release = &Owner::Release};
}

}  // namespace wasinn::core
