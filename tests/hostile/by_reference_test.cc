// Guests of a host that leaves inputs in guest memory (policy.inputs): what they may try with memory that is another's,
// that ends, or that other threads write.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "hostile/embedder.h"

namespace wasinn::testing {
namespace {

enum : uint32_t { kDone = 0, kRefused = 1 };
constexpr uint32_t kFloats = 1, kPage = 65536;
constexpr uint32_t kTensor = 128, kData = 1024, kOutput = 4096, kWritten = 64;

class HostileByReference : public ::testing::Test {
 protected:
  uint64_t Copies() const { return guest_.Statistics().copies_in; }
  // "dynamic" computes the positive parts of n×m floats.
  static uint32_t NewContext(Puppet& program) { return program.NewContext(program.LoadByName("dynamic")); }
  static uint32_t Set(Puppet& program, uint32_t context, uint32_t data, uint32_t count = 2) {
    program.PutTensor(kTensor, {1, count}, kFloats, data, count * 4);
    return program.Call("set_input", {context, 0, kTensor});
  }
  static std::vector<float> Compute(Puppet& program, uint32_t context, size_t count = 2) {
    if (program.Call("compute", {context}) != kDone) return {};
    if (program.Call("get_output", {context, 0, kOutput, 4096, kWritten}) != kDone) return {};
    std::vector<float> output(count);
    std::memcpy(output.data(), program.memory() + kOutput, count * sizeof(float));
    return output;
  }

  Guest NewGuest() {
    Result<Guest> guest = Guest::Create(embedder_.host());
    EXPECT_TRUE(guest) << guest.status().message();
    return std::move(*guest);
  }

  using Numbers = std::vector<float>;

  Embedder embedder_{"policy.inputs = 'by-reference'\n"};
  Guest guest_ = NewGuest();
};

// Two instances of one guest: the memory of the one is not read in place of the other's.
TEST_F(HostileByReference, TheMemoryOfAnotherInstance) {
  Puppet lender(embedder_, guest_.get()), other(embedder_, guest_.get());
  const uint32_t context = NewContext(lender);
  lender.Put<float>(kData, {1, 2});
  other.Put<float>(kData, {8, 9});
  ASSERT_EQ(Set(lender, context, kData), kDone);
  EXPECT_EQ(Copies(), 0u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(other.Call("compute", {context}), kRefused);
  EXPECT_EQ(other.Call("get_output", {context, 0, kOutput, 8, kWritten}), kRefused);
  lender.Put<float>(kData, {3, 4});
  EXPECT_EQ(Compute(lender, context), Numbers({3, 4}));
  // Whoever sets it anew owns it.
  ASSERT_EQ(Set(other, context, kData), kDone);
  EXPECT_EQ(lender.Call("compute", {context}), kRefused);
  EXPECT_EQ(Compute(other, context), Numbers({8, 9}));
  EXPECT_EQ(Copies(), 0u);
}

// The instance is gone, and another one may have its place.
TEST_F(HostileByReference, TheMemoryOfAnInstanceThatIsGone) {
  Puppet stays(embedder_, guest_.get());
  const uint32_t context = NewContext(stays);
  for (int i = 0; i < 20; ++i) {
    {
      Puppet goes(embedder_, guest_.get());
      goes.Put<float>(kData, {1, 2});
      ASSERT_EQ(Set(goes, context, kData), kDone);
      if (i % 2 == 0) {
        EXPECT_EQ(Compute(goes, context), Numbers({1, 2}));
      }
    }
    Puppet next(embedder_, guest_.get());
    EXPECT_EQ(next.Call("compute", {context}), kRefused);
    EXPECT_EQ(stays.Call("compute", {context}), kRefused);
  }
}

TEST_F(HostileByReference, TheEndOfMemory) {
  Puppet program(embedder_, guest_.get());
  const uint32_t context = NewContext(program);
  for (const uint32_t behind : {0u, 4u, 60u, 64u, 128u}) {
    const uint32_t data = kPage - 8 - behind;
    program.Put<float>(data, {1, 2});
    const uint64_t copies = Copies();
    ASSERT_EQ(Set(program, context, data), kDone);
    EXPECT_EQ(Copies() - copies, behind < 64 ? 1u : 0u) << behind;
    program.Put<float>(data, {3, 4});
    EXPECT_EQ(Compute(program, context), behind < 64 ? Numbers({1, 2}) : Numbers({3, 4})) << behind;
  }
  for (const uint32_t data : {kPage - 4, kPage, UINT32_MAX - 3, UINT32_MAX - 7}) {
    EXPECT_EQ(Set(program, context, data), kRefused) << data;
  }
}

// The tensor's description, the output's place and its size lie in the input itself.
TEST_F(HostileByReference, EverythingInOnePlace) {
  Puppet program(embedder_, guest_.get());
  const uint32_t context = NewContext(program);
  ASSERT_EQ(Set(program, context, kTensor, 16), kDone);
  ASSERT_EQ(program.Call("compute", {context}), kDone);
  EXPECT_EQ(program.Call("get_output", {context, 0, kTensor, 64, kTensor}), kDone);
  EXPECT_EQ(program.Read(kTensor), 64u);
  // What the description was does not matter any more.
  EXPECT_EQ(program.Call("compute", {context}), kDone);
  EXPECT_EQ(Copies(), 0u);
}

// What other threads of the guest may write is copied, so that no framework sees it change.
TEST_F(HostileByReference, SharedMemory) {
  const SharedMemoryPtr memory = NewSharedMemory(embedder_, 1);
  Puppet program(embedder_, guest_.get(), memory.get());
  const uint32_t context = NewContext(program);
  program.Put<float>(kData, {1, 2});
  ASSERT_EQ(Set(program, context, kData), kDone);
  EXPECT_EQ(Copies(), 1u);
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    auto* place = reinterpret_cast<uint32_t*>(program.memory() + kData);
    for (uint32_t i = 0; !stop; ++i) std::atomic_ref<uint32_t>(*place).store(i, std::memory_order_relaxed);
  });
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(Compute(program, context), Numbers({1, 2}));
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace wasinn::testing
