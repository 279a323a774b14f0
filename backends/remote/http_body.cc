#include "remote/http_body.h"

#include <algorithm>
#include <cstring>

namespace wasinn::remote {

bool HttpMemory::Append(const void* data, size_t bytes) {
  if (bytes == 0) return true;
  if (bytes > capacity_ - size_) {
    constexpr uint64_t kFirst = 64 << 10;
    const uint64_t wanted = std::min<uint64_t>(std::max<uint64_t>(kFirst, capacity_ * uint64_t{2}), most_);
    auto capacity = static_cast<size_t>(std::max<uint64_t>(wanted, size_ + bytes));
    if (charge_ != nullptr && !charge_(capacity)) {
      capacity = size_ + bytes;  // the limit may not allow more
      if (!charge_(capacity)) return false;
    }
    void* const grown = std::realloc(block_.get(), capacity);
    if (grown == nullptr) return false;
    (void)block_.release();
    block_.reset(static_cast<char*>(grown));
    capacity_ = capacity;
  }
  std::memcpy(block_.get() + size_, data, bytes);
  size_ += bytes;
  return true;
}

grpc::ByteBuffer HttpMemory::Take() {
  if (size_ == 0) {
    const grpc::Slice nothing;
    return {&nothing, 1};
  }
  const size_t size = std::exchange(size_, 0);
  capacity_ = 0;
  const grpc::Slice slice(block_.release(), size, std::free);
  return {&slice, 1};
}

}  // namespace wasinn::remote
