// Memory that a framework reads and writes in place.
#pragma once

#include <wasinn/types.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "base/tensor_bytes.h"

namespace wasinn::backend {

// As in the host's memory.
inline constexpr size_t kBufferAlignment = WASINN_TENSOR_ALIGNMENT;
inline constexpr size_t kBufferTail = WASINN_TENSOR_TAIL;

using base::PaddedSize;

// Uninitialised bytes; never NULL, even for none.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(size_t bytes)
      : capacity_(bytes), data_(std::aligned_alloc(kBufferAlignment, PaddedSize(bytes))) {
    if (data_ == nullptr) throw std::bad_alloc();
  }

  // Whether it exists and suits `bytes`: large enough, and with no more memory than they need, since the core counts
  // only that.
  bool IsFor(size_t bytes) const { return data_ != nullptr && PaddedSize(capacity_) == PaddedSize(bytes); }

  // Makes it suit `bytes`; its content may be lost. The old block is freed before there is another.
  void Fit(size_t bytes) {
    if (IsFor(bytes)) return;
    *this = {};
    *this = AlignedBuffer(bytes);
  }
  // Copies these bytes.
  void Assign(const void* data, size_t bytes) {
    Fit(bytes);
    if (bytes > 0) std::memcpy(data_.get(), data, bytes);
  }

  // The caller must std::free it.
  void* release() {
    capacity_ = 0;
    return data_.release();
  }

  void* data() const { return data_.get(); }
  size_t capacity() const { return capacity_; }

 private:
  struct Free {
    void operator()(void* data) const { std::free(data); }
  };

  size_t capacity_ = 0;
  std::unique_ptr<void, Free> data_;
};

}  // namespace wasinn::backend
