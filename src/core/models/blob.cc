#include "core/models/blob.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "core/isolation/digest.h"
#include "core/isolation/segment.h"

namespace wasinn::core {
namespace {

class FileDescriptor {
 public:
  // Opening a pipe without a writer would block for ever; pipes are refused later.
  explicit FileDescriptor(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// From here on a file is mapped: frameworks have weights in a form of their own, beside which a copy would be as much
// memory again.
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

Result<uint64_t> SizeOf(const FileDescriptor& file, const std::string& path) {
  struct stat info{};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) {
    return Fail(errno == ENOENT ? WASINN_ERROR_MODEL_NOT_FOUND : WASINN_ERROR_RUNTIME, "cannot open '{}': {}", path,
                std::strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) return Fail(WASINN_ERROR_INVALID_ARGUMENT, "'{}' is not a file", path);
  return static_cast<uint64_t>(info.st_size);
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
  const FileDescriptor file(path);
  const Result<uint64_t> size = SizeOf(file, path);
  if (!size) return Fail(size.error().code(), "{}", size.error().message());
  Result<std::shared_ptr<const Blob>> blob = Sealed(isolation::Segment::MakeCopyOfFile(file.get(), *size));
  if (blob) const_cast<Blob&>(**blob).path_ = path;
  return blob;
}

int Blob::descriptor() const { return sealed_ == nullptr ? -1 : sealed_->descriptor(); }

const std::string& Blob::Digest() const {
  std::call_once(digested_, [this] { digest_ = isolation::DigestOf(bytes()); });
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
  const FileDescriptor file(path);
  const Result<uint64_t> size = SizeOf(file, path);
  if (!size) return Fail(size.error().code(), "{}", size.error().message());
  std::shared_ptr<Blob> blob(new Blob);
  blob->path_ = path;
  blob->size_ = static_cast<size_t>(*size);
  if ((map || blob->size_ >= kLarge) && blob->size_ > 0) {
    void* mapping = ::mmap(nullptr, blob->size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (mapping == MAP_FAILED) return Fail(WASINN_ERROR_RUNTIME, "cannot map '{}': {}", path, std::strerror(errno));
    blob->mapping_ = mapping;
    blob->data_ = static_cast<const uint8_t*>(mapping);
    return blob;
  }
  blob->owned_ = std::make_unique_for_overwrite<uint8_t[]>(blob->size_);
  blob->data_ = blob->owned_.get();
  if (!ReadAll(file.get(), blob->owned_.get(), blob->size_)) {
    return Fail(WASINN_ERROR_RUNTIME, "cannot read '{}' whole: it changed while it was read", path);
  }
  return blob;
}

Result<uint64_t> Blob::FileSize(const std::string& path) { return SizeOf(FileDescriptor(path), path); }

Result<std::shared_ptr<const Blob>> Blob::ReadStart(const std::string& path, size_t most) {
  const FileDescriptor file(path);
  const Result<uint64_t> size = SizeOf(file, path);
  if (!size) return Fail(size.error().code(), "{}", size.error().message());
  std::vector<uint8_t> start(std::min<uint64_t>(*size, most));
  if (!ReadAll(file.get(), start.data(), start.size())) {
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
