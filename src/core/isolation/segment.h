// Memory that a host and one worker share. The host makes it, so that its size is what the host says and stays so; it
// serves one worker and is gone with it.
#pragma once

#include <cstdint>
#include <span>

#include "core/isolation/socket.h"
#include "core/status.h"

namespace wasinn::isolation {

class Segment {
 public:
  Segment() = default;
  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) noexcept;
  ~Segment();

  // Zeroed memory that both sides may write. UNAVAILABLE where the system has none.
  static core::Result<Segment> Make(size_t bytes);
  // A copy that nobody can write any more; it is not mapped here, unless MapSealed does it.
  static core::Result<Segment> MakeCopy(std::span<const uint8_t> bytes);
  // The same of a file, from its beginning.
  static core::Result<Segment> MakeCopyOfFile(int file, size_t bytes);
  core::Status MapSealed();
  // At the worker's side, of a descriptor that came.
  static core::Result<Segment> Map(const base::Descriptor& descriptor, size_t bytes, bool writable);

  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  // To send it; closed by Close, when the other side has it.
  int descriptor() const { return descriptor_.number(); }
  void Close() { descriptor_ = base::Descriptor(); }

 private:
  static core::Result<Segment> SealAgainstWrites(base::Descriptor file, size_t bytes);

  base::Descriptor descriptor_;
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  bool made_ = false;  // here, not mapped of another one's
};

}  // namespace wasinn::isolation
