// A guest's memory that a test may move. A memory that moves leaves freed memory behind, so that sanitizers see what
// still looks there.
#pragma once

#include "support/echo.h"
#include "support/test.h"

namespace wasinn::testing {

class MovableMemory {
 public:
  static constexpr size_t kAlign = 64;

  MovableMemory(wasinn_guest* guest, size_t size) : guest_(guest) { Move(size); }
  // Elsewhere, with what it holds, and the old place is gone.
  void Move(size_t size) {
    auto storage = std::make_unique<uint8_t[]>(size + kAlign);
    void* aligned = storage.get();
    size_t space = size + kAlign;
    auto* base = static_cast<uint8_t*>(std::align(kAlign, size, aligned, space));
    if (storage_ != nullptr) std::memcpy(base, base_, std::min(size, size_));
    storage_ = std::move(storage);
    base_ = base;
    size_ = size;
  }
  void Share() { flags_ = WASINN_MEMORY_SHARED; }

  uint32_t Call(std::string_view function, const std::vector<uint64_t>& args) {
    const wasinn_memory memory{sizeof(wasinn_memory), flags_, base_, size_};
    return FunctionNamed(function).call(guest_, &memory, args.data(), sizeof(uint64_t));
  }

  template <typename T>
  void Write(uint32_t address, const std::vector<T>& values) {
    ASSERT_LE(address + values.size() * sizeof(T), size_);
    std::memcpy(base_ + address, values.data(), values.size() * sizeof(T));
  }
  template <typename T>
  std::vector<T> Read(uint32_t address, size_t count) const {
    std::vector<T> values(count);
    std::memcpy(values.data(), base_ + address, count * sizeof(T));
    return values;
  }
  // The rank is 1. The descriptor lies at kDescriptor.
  uint32_t SetFloats(uint32_t context, uint32_t data, uint32_t count = 2, uint32_t index = 0) {
    Write<uint32_t>(kDims, {count});
    Write<uint32_t>(kDescriptor, {kDims, 1, kF32, data, count * 4});
    return Call("set_input", {context, index, kDescriptor});
  }
  uint32_t GetOutput(uint32_t context, uint32_t size = 8, uint32_t index = 0) {
    return Call("get_output", {context, index, kOutput, size, kWritten});
  }
  // Computes, and gives the two numbers of output 0; none after an error.
  std::vector<float> Compute(uint32_t context) {
    if (Call("compute", {context}) != kSuccess || GetOutput(context) != kSuccess) return {};
    return Read<float>(kOutput, 2);
  }

  static constexpr uint32_t kDims = 0, kDescriptor = 16, kWritten = 48, kOutput = 52, kData = 512;

 private:
  wasinn_guest* guest_;
  std::unique_ptr<uint8_t[]> storage_;
  uint8_t* base_ = nullptr;
  size_t size_ = 0;
  uint32_t flags_ = 0;
};

}  // namespace wasinn::testing
