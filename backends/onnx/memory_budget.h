// How many bytes one operation of ONNX Runtime may hold at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace wasinn::onnx {

// Thrown out of the allocator and through ONNX Runtime, which turns it into a failed status. (Answering NULL instead
// would not do: kernels write to what they get without looking.)
class OverBudget : public std::bad_alloc {
 public:
  const char* what() const noexcept override { return "more memory than this model may use"; }
};

// One thread at a time. Blocks are charged when they are allocated within an operation, and refunded when they are
// freed within the same one.
class MemoryBudget {
 public:
  // `id` must differ from that of any operation whose blocks may still live; 0 is for blocks outside of operations.
  void Begin(uint64_t id, uint64_t limit) {
    id_ = id;
    limit_ = limit;
    used_ = 0;
    refused_ = 0;
  }

  void Charge(size_t bytes) {
    if (!TryCharge(bytes)) throw OverBudget();
  }

  bool TryCharge(size_t bytes) {
    if (bytes > limit_ - used_) {
      refused_ = bytes;
      return false;
    }
    used_ += bytes;
    return true;
  }

  void Refund(size_t bytes) { used_ -= bytes; }

  uint64_t id() const { return id_; }
  uint64_t limit() const { return limit_; }
  uint64_t used() const { return used_; }
  // The bytes of the allocation that was refused; 0 if none was.
  uint64_t refused() const { return refused_; }

 private:
  uint64_t id_ = 0;
  uint64_t limit_ = UINT64_MAX;
  uint64_t used_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace wasinn::onnx
