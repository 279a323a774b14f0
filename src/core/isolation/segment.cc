#include "core/isolation/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace wasinn::isolation {
namespace {

// Debian 12's headers and kernel are older than the flag.
#ifndef MFD_NOEXEC_SEAL
constexpr unsigned MFD_NOEXEC_SEAL = 8u;
#endif

core::Status Failed(const char* what, size_t bytes, int error) {
  return core::Error(WASINN_ERROR_UNAVAILABLE, "no memory to share with a worker, {} bytes: {}: {}", bytes, what,
                     std::strerror(error));
}

// An empty file has one byte, because the system maps no less.
core::Result<base::Descriptor> MakeFile(size_t bytes) {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int fd = ::memfd_create("wasinn", kFlags | MFD_NOEXEC_SEAL);
  if (fd < 0 && errno == EINVAL) fd = ::memfd_create("wasinn", kFlags);
  base::Descriptor file = base::Descriptor::NoStandardOne(fd);
  if (!file.is_open()) return std::unexpected(Failed("memfd_create", bytes, errno));
  // Asking for more would end this process by a signal.
  rlimit most{};
  if (::getrlimit(RLIMIT_FSIZE, &most) == 0 && bytes > most.rlim_cur) {
    return std::unexpected(Failed("RLIMIT_FSIZE", bytes, EFBIG));
  }
  // Allocated now: a shortage later would end the process that touches it.
  if (const int error = ::posix_fallocate(file.number(), 0, static_cast<off_t>(std::max<size_t>(bytes, 1)));
      error != 0) {
    return std::unexpected(Failed("fallocate", bytes, error));
  }
  return file;
}

core::Status Seal(const base::Descriptor& file, int seals, size_t bytes) {
  if (::fcntl(file.number(), F_ADD_SEALS, seals | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) return {};
  return Failed("F_ADD_SEALS", bytes, errno);
}

core::Result<uint8_t*> MapFile(int fd, size_t bytes, int protection) {
  void* data = ::mmap(nullptr, std::max<size_t>(bytes, 1), protection, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (data == MAP_FAILED) return std::unexpected(Failed("mmap", bytes, errno));
  return static_cast<uint8_t*>(data);
}

}  // namespace

// A worker may keep its own mapping, or the descriptor, so the content is deleted.
void Unmap::operator()(uint8_t* data) const {
  if (made) (void)::madvise(data, size, MADV_REMOVE);
  ::munmap(data, std::max<size_t>(size, 1));
}

core::Result<Segment> Segment::Make(size_t bytes) {
  ASSIGN_OR_RETURN(base::Descriptor file, MakeFile(bytes));
  RETURN_IF_ERROR(Seal(file, 0, bytes));
  core::Result<Segment> segment = Map(file, bytes, true);
  if (segment) {
    segment->descriptor_ = std::move(file);
    segment->data_.get_deleter().made = true;
  }
  return segment;
}

core::Result<Segment> Segment::MakeCopy(std::span<const uint8_t> bytes) {
  ASSIGN_OR_RETURN(base::Descriptor file, MakeFile(bytes.size()));
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::pwrite(file.number(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (n <= 0 && errno != EINTR) return std::unexpected(Failed("write", bytes.size(), errno));
    if (n > 0) done += static_cast<size_t>(n);
  }
  return SealAgainstWrites(std::move(file), bytes.size());
}

core::Result<Segment> Segment::MakeCopyOfFile(int file, size_t bytes) {
  ASSIGN_OR_RETURN(base::Descriptor copy, MakeFile(bytes));
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = ::sendfile(copy.number(), file, nullptr, bytes - done);
    if (n == 0) return core::Fail(WASINN_ERROR_RUNTIME, "a model's file changed while it was read");
    if (n < 0 && errno != EINTR) return std::unexpected(Failed("sendfile", bytes, errno));
    if (n > 0) done += static_cast<size_t>(n);
  }
  return SealAgainstWrites(std::move(copy), bytes);
}

core::Result<Segment> Segment::SealAgainstWrites(base::Descriptor file, size_t bytes) {
  RETURN_IF_ERROR(Seal(file, F_SEAL_WRITE, bytes));
  Segment segment;
  segment.descriptor_ = std::move(file);
  segment.size_ = bytes;
  return segment;
}

core::Status Segment::MapSealed() {
  ASSIGN_OR_RETURN(uint8_t* data, MapFile(descriptor_.number(), size_, PROT_READ));
  data_ = {data, Unmap{.size = size_}};
  return {};
}

core::Result<Segment> Segment::Map(const base::Descriptor& descriptor, size_t bytes, bool writable) {
  ASSIGN_OR_RETURN(uint8_t* data, MapFile(descriptor.number(), bytes, PROT_READ | (writable ? PROT_WRITE : 0)));
  Segment segment;
  segment.data_ = {data, Unmap{.size = bytes}};
  segment.size_ = bytes;
  return segment;
}

}  // namespace wasinn::isolation
