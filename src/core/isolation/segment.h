// Memory that a host and one worker share. The host makes it and fixes its size; it serves one worker and is freed with
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/isolation/socket.h"
#include "core/status.h"

namespace wasinn::isolation {

struct Unmap {
  void operator()(uint8_t* data) const;
  size_t size = 0;
  bool made = false;  // made here, not mapped from another process
};

class Segment {
 public:
  // Zeroed memory that both sides may write. UNAVAILABLE if the system has none.
  static core::Result<Segment> Make(size_t bytes);
  // A read-only copy; only MapSealed maps it here.
  static core::Result<Segment> MakeCopy(std::span<const uint8_t> bytes);
  // A read-only copy of a file, from its beginning.
  static core::Result<Segment> MakeCopyOfFile(int file, size_t bytes);
  core::Status MapSealed();
  // On the worker's side: maps a descriptor that it received.
  static core::Result<Segment> Map(const base::Descriptor& descriptor, size_t bytes, bool writable);

  uint8_t* data() const { return data_.get(); }
  size_t size() const { return size_; }
  // The descriptor to send; Close closes it when the other side has it.
  int descriptor() const { return descriptor_.number(); }
  void Close() { descriptor_ = base::Descriptor(); }

 private:
  static core::Result<Segment> SealAgainstWrites(base::Descriptor file, size_t bytes);

  base::Descriptor descriptor_;
  std::unique_ptr<uint8_t, Unmap> data_;
  size_t size_ = 0;
};

}  // namespace wasinn::isolation
