// A guest whose inputs stay in its memory, for tests of policy.inputs = "by-reference". A memory that moves leaves
// freed memory behind, so that sanitizers see who still looks there.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/echo.h"

namespace wasinn::testing {

// A guest's memory, where a test wants it, of the identity and kind that it wants.
class LentMemory {
 public:
  static constexpr size_t kAlign = 64;

  explicit LentMemory(wasinn_guest* guest, uint64_t id = 7, size_t size = 4096) : guest_(guest), id_(id) { Move(size); }
  // Elsewhere, with what it holds, and the old place is gone; `skew` bytes behind an aligned address.
  void Move(size_t size, size_t skew = 0) {
    auto storage = std::make_unique<uint8_t[]>(size + 2 * kAlign);
    void* aligned = storage.get();
    size_t space = size + 2 * kAlign;
    auto* base = static_cast<uint8_t*>(std::align(kAlign, size + kAlign, aligned, space)) + skew;
    if (storage_ != nullptr) std::memcpy(base, base_, std::min(size, size_));
    storage_ = std::move(storage);
    base_ = base;
    size_ = size;
  }
  void Share() { flags_ = WASINN_MEMORY_SHARED; }
  void BeOlder() { struct_size_ = offsetof(wasinn_memory, id); }
  void ShrinkTo(size_t size) { size_ = size; }
  size_t size() const { return size_; }

  uint32_t Call(std::string_view function, const std::vector<uint64_t>& args) {
    const wasinn_memory memory{struct_size_, flags_, base_, size_, {id_, 0}};
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
  uint32_t SetInput(uint32_t context, uint32_t index, uint8_t type, uint32_t data, uint32_t elements, uint32_t bytes) {
    Write<uint32_t>(kDims, {elements});
    Write<uint32_t>(kDescriptor, {kDims, 1, type, data, bytes});
    return Call("set_input", {context, index, kDescriptor});
  }
  uint32_t SetFloats(uint32_t context, uint32_t data, uint32_t count = 2, uint32_t index = 0) {
    return SetInput(context, index, kF32, data, count, count * 4);
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
  uint64_t id_;
  uint32_t flags_ = 0, struct_size_ = sizeof(wasinn_memory);
};

class LentInput : public ::testing::Test {
 protected:
  void Use(GuestPtr guest, size_t memory_size = 4096) {
    program_ = EchoProgram(std::move(guest), 1 << 16);
    memory_ = LentMemory(program_.guest.get(), 7, memory_size);
    copies_ = 0;
  }
  uint32_t NewContext(std::string_view directives = "in x f32 2\n") { return program_.Open(directives); }
  wasinn_guest_stats Stats() const { return program_.Stats(); }
  // How many copies of inputs the host has made since this was asked last.
  uint64_t Copies() {
    const uint64_t before = std::exchange(copies_, Stats().copies_in);
    return copies_ - before;
  }
  void ExpectLentAt(uint32_t data, bool lent, const char* why, uint32_t context) {
    memory_.Write<float>(data, {1, 2});
    ASSERT_EQ(memory_.SetFloats(context, data), kSuccess) << why << log_.Last();
    EXPECT_EQ(Copies(), lent ? 0u : 1u) << why;
    memory_.Write<float>(data, {3, 4});
    EXPECT_THAT(memory_.Compute(context), lent ? ::testing::ElementsAre(3, 4) : ::testing::ElementsAre(1, 2)) << why;
    EXPECT_EQ(Copies(), 0u) << why;
  }

  Log log_;
  HostPtr host_ = EchoHost(log_, "[policy]\ninputs = 'by-reference'\n");
  EchoProgram program_{host_.get(), 1 << 16};
  LentMemory memory_{program_.guest.get()};
  uint64_t copies_ = 0;
};

}  // namespace wasinn::testing
