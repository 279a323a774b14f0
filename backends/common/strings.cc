#include "common/strings.h"

#include <algorithm>
#include <limits>

#include "common/dtype.h"
#include "common/throw.h"

namespace wasinn::backend {

uint64_t StringsMemory::BytesFor(const Port& port, uint64_t count, uint64_t longest) {
  if (longest > std::numeric_limits<uint32_t>::max()) {
    Throw(WASINN_ERROR_TOO_LARGE, "output '{}': a string of {} bytes", port.name, longest);
  }
  uint64_t bytes = 0;
  return __builtin_mul_overflow(count, longest + kStringLength, &bytes) ? UINT64_MAX : bytes;
}

void MakeStrings(Port& port) {
  if (port.dims.size() >= WASINN_MAX_RANK) return;
  if (port.io.rank >= 0) {
    port.dims.push_back(-1);
    ++port.io.rank;
  }
  port.io.dtype = WASINN_DTYPE_U8;
  port.io.flags = (port.io.flags & ~uint32_t{WASINN_IO_UNSERVABLE}) | WASINN_IO_STRINGS;
}

StringsOf::StringsOf(const Port& port, std::span<const int64_t> dims, const void* data)
    : port_(port), data_(static_cast<const uint8_t*>(data)) {
  if (dims.empty() || dims.back() == 0) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT,
          "input '{}' is of strings: expected a last dimension that is the bytes of each", port.name);
  }
  dims_ = dims.first(dims.size() - 1);
  size_ = TensorBytes(dims_, 1);
  width_ = static_cast<uint64_t>(dims.back());
}

std::string_view StringsOf::At(uint64_t index) const {
  uint32_t length = 0;
  const uint8_t* const from = data_ + index * width_;
  std::memcpy(&length, from, std::min(width_, kStringLength));  // a narrow one, as in a warm-up, is empty
  if (length > width_ - std::min(width_, kStringLength)) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "input '{}': string {} has {} bytes: expected no more than {}", port_.name,
          index, length, width_ - std::min(width_, kStringLength));
  }
  return {reinterpret_cast<const char*>(from + kStringLength), length};
}

}  // namespace wasinn::backend
