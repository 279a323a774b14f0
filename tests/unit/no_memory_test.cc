// Where there is no memory, nothing is left half done.
#include "no_memory.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <memory>
#include <vector>

#include "core/buffer_pool.h"
#include "core/handle_table.h"
#include "core/model_registry.h"
#include "core/shared_tensor.h"
#include "support/echo.h"
#include "wit_guest.h"

namespace wasinn::testing {
namespace {

TEST(OutOfMemory, HandlesAreRemovedWithoutAny) {
  core::HandleTable<int> table(core::HandleKind::kTensor, "tensor");
  std::vector<uint32_t> handles;
  for (int i = 0; i < 2000; ++i) handles.push_back(*table.Insert(std::make_shared<int>(i)));
  for (size_t i = 0; i < handles.size(); ++i) {
    const NoMemory none(0);
    const auto removed = table.Remove(handles[i]);
    ASSERT_TRUE(removed);
    ASSERT_EQ(**removed, static_cast<int>(i));
  }
  for (const uint32_t handle : handles) EXPECT_FALSE(table.Get(handle));
}

TEST(OutOfMemory, AModelThatWasNotRegisteredIsNotThere) {
  core::ModelRegistry registry;
  const auto source = [] { return core::ModelSource{.name = "a model with a name that needs memory of its own"}; };
  core::ModelSource given;
  const int failures = FailEachAllocation(
      [&] {
        given = source();
        ASSERT_TRUE(registry.Add(std::move(given)).ok());
      },
      [&] {
        EXPECT_EQ(registry.All().size(), 0u);
        const auto found = registry.Find(source().name);
        ASSERT_FALSE(found);
        EXPECT_EQ(found.error().code(), WASINN_NOT_FOUND);
      });
  EXPECT_GT(failures, 2);
  EXPECT_TRUE(registry.Find(source().name));
}

TEST(OutOfMemory, AnOutputThatWasTakenGoesBack) {
  int held = 0;
  core::TensorPtr tensor;
  FailEachAllocation(
      [&] {
        const wasinn_tensor taken{.struct_size = sizeof(taken), .owner = &++held, .release = [](void* owner) {
                                    --*static_cast<int*>(owner);
                                  }};
        tensor = core::SharedTensor::Adopt(nullptr, {}, taken, {});
      },
      [&] { EXPECT_EQ(held, 0); });
  EXPECT_EQ(held, 1);
  tensor.reset();
  EXPECT_EQ(held, 0);
}

// Buffers go back to the pool where nothing may throw.
TEST(OutOfMemory, BuffersGoBackToThePool) {
  const auto pool = core::BufferPool::Create();
  std::vector<core::BufferPool::Buffer> buffers(2 * core::BufferPool::kMostBlocks);
  for (auto& buffer : buffers) buffer = pool->Take(1000);
  const NoMemory none(0);
  while (!buffers.empty()) buffers.pop_back();
}

// What is kept for the next tensor belongs to nobody, so it is little beside what a guest may hold.
TEST(Held, MemoryForTheNextTensorIsAPartOfTheLimit) {
  constexpr size_t kMebi = size_t{1} << 20;
  Log log;
  const HostPtr host = EchoHost(log, "[limits]\nmax_tensor_bytes = 83886080\n");
  const GuestPtr guest = NewGuest(host.get());
  WitGuest program(guest.get());
  const std::vector<uint8_t> bytes(16 * kMebi);
  const auto allocated = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  const size_t before = allocated();
  std::vector<Outcome> tensors;
  for (int i = 0; i < 4; ++i) tensors.push_back(program.Tensor({static_cast<uint32_t>(bytes.size())}, kWitU8, bytes));
  for (const Outcome& tensor : tensors) {
    ASSERT_TRUE(tensor.ok()) << tensor;
    EXPECT_EQ(program.DropTensor(tensor.rep), "");
  }
  EXPECT_LT(allocated(), before + 6 * kMebi);
}

}  // namespace
}  // namespace wasinn::testing
