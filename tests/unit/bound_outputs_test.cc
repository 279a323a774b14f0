// Outputs of a known shape, which a backend writes to memory that the core gives it.
#include "core/memory/buffer_pool.h"
#include "unit/bytes_guest.h"

namespace wasinn::testing {
namespace {

class BoundOutputs : public ::testing::Test {
 protected:
  void AddModel(const char* name, const std::string& more = "") {
    AddEchoModel(host_.get(), name, "in x u8 4 bindable\n" + more);
  }

  Log log_;
  HostPtr host_ = EchoHost(log_, "[limits]\nmax_tensor_bytes = 2000\n");
};

TEST_F(BoundOutputs, HaveWhatTheLastComputeMade) {
  AddModel("m");
  BytesGuest program(host_.get());
  const uint32_t first = program.NewContext("m"), second = program.NewContext("m");
  for (uint8_t i = 0; i < 3; ++i) {
    ASSERT_EQ(program.Compute(first, {i, 1, 2, 3}), kSuccess);
    ASSERT_EQ(program.Compute(second, {9, 9, 9, i}), kSuccess);
    EXPECT_THAT(program.Output(first), ElementsAre(i, 1, 2, 3));
    EXPECT_THAT(program.Output(second), ElementsAre(9, 9, 9, i));
  }
  EXPECT_EQ(program.held(), 16u);
}

// Components take them, and the next compute has other memory.
TEST_F(BoundOutputs, TakenOnesOutliveComputesAndAreCharged) {
  AddModel("m");
  BytesGuest program(host_.get());
  const uint32_t context = program.wit.ContextOf("m");
  std::vector<uint32_t> outputs;
  for (uint8_t i = 0; i < 3; ++i) {
    const Outcome done = program.wit.Compute(context, {{"x", program.wit.Tensor({4}, kWitU8, {i, 0, 0, i}).rep}});
    ASSERT_TRUE(done.ok()) << done;
    outputs.push_back(done.outputs[0].second);
    EXPECT_EQ(program.held(), 4u + 4u * outputs.size()) << "the signature's, and what was taken";
  }
  EXPECT_EQ(program.Stats().copies_out, 0u);
  EXPECT_EQ(program.wit.DropContext(context), "");
  for (uint8_t i = 0; i < 3; ++i) {
    EXPECT_THAT(program.wit.Data(outputs[i]), ElementsAre(i, 0, 0, i));
    EXPECT_EQ(program.wit.DropTensor(outputs[i]), "");
  }
  EXPECT_EQ(program.held(), 0u);
}

TEST_F(BoundOutputs, MayLieElsewhereAndAreChargedThere) {
  AddModel("m", "outgrows 600\n");
  BytesGuest program(host_.get());
  const uint32_t context = program.NewContext("m");
  for (uint8_t i = 0; i < 3; ++i) {
    ASSERT_EQ(program.Compute(context, {i, 1, 1, 1}), kSuccess);
    EXPECT_EQ(program.Output(context).size(), 600u);
    EXPECT_EQ(program.held(), 608u) << "4 of the input, 4 of the signature, and 600 elsewhere";
  }
  const uint32_t taking = program.wit.ContextOf("m");
  const Outcome done = program.wit.Compute(taking, {{"x", program.wit.Tensor({4}, kWitU8, {1, 2, 3, 4}).rep}});
  ASSERT_TRUE(done.ok()) << done;
  EXPECT_EQ(program.wit.Data(done.outputs[0].second).size(), 600u);
}

TEST_F(BoundOutputs, ShowNothingOfAnotherGuest) {
  AddModel("echo");
  AddModel("leaves", "leaves\n");
  for (int i = 0; i < 3; ++i) {
    BytesGuest other(host_.get());
    ASSERT_EQ(other.Compute(other.NewContext("echo"), {7, 7, 7, 7}), kSuccess);
    ASSERT_EQ(other.Compute(other.NewContext("echo"), {8, 8, 8, 8}), kSuccess);
  }
  BytesGuest program(host_.get());
  for (int i = 0; i < 6; ++i) {
    const uint32_t context = program.NewContext("leaves");
    ASSERT_EQ(program.Compute(context, {5, 5, 5, 5}), kSuccess);
    EXPECT_THAT(program.Output(context), Each(0));
  }
}

TEST(BufferPool, ACleanBufferHasNothingOfAnotherUser) {
  const auto pool = core::BufferPool::Create();
  const uint64_t one = pool->NewUser(), other = pool->NewUser();
  const auto sum = [](const core::BufferPool::Buffer& buffer, size_t bytes) {
    int all = 0;
    for (size_t i = 0; i < bytes; ++i) all += buffer.data()[i];
    return all;
  };
  std::memset(pool->TakeClean(one, 120).data(), 1, 120);
  EXPECT_EQ(sum(pool->TakeClean(one, 120), 120), 120) << "its own, as it left it";
  // A buffer of the same size for the pool: bytes that it does not write are not there either.
  std::memset(pool->Take(other, 100).data(), 2, 100);
  EXPECT_EQ(sum(pool->TakeClean(other, 120), 120), 200);
  EXPECT_EQ(sum(pool->TakeClean(one, 120), 120), 0);
}

}  // namespace
}  // namespace wasinn::testing
