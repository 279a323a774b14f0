// Outputs that become inputs without a way through guest memory: wasinn_ext_0.set_input_from_output.
#include "support/gate.h"
#include "unit/bytes_guest.h"

namespace wasinn::testing {
namespace {

class OutputToInput : public ::testing::Test {
 protected:
  OutputToInput() {
    AddEchoModel(host_.get(), "m", "in x u8 4\n");
    AddEchoModel(host_.get(), "bound", "in x u8 4 bindable\n");
    AddEchoModel(host_.get(), "shared", "in x u8 4\nshares\nturns 1\n");
    AddEchoModel(host_.get(), "three", "in x u8 3\n");
    AddEchoModel(host_.get(), "floats", "in x f32 1\n");
  }
  static uint32_t Pass(BytesGuest& guest, uint32_t to, uint32_t from, uint32_t input = 0, uint32_t output = 0) {
    return guest.Call("wasinn_ext_0.set_input_from_output", {to, input, from, output});
  }

  Log log_;
  HostPtr host_ = EchoHost(log_);
  BytesGuest guest_{host_.get()};
};

// Cases: the owner of the outputs' memory, and the owner of the slot that made them.
TEST_F(OutputToInput, CopiesNothing) {
  for (const char* name : {"m", "bound", "shared"}) {
    BytesGuest guest(host_.get());
    const uint32_t first = guest.NewContext(name), second = guest.NewContext("m");
    for (uint8_t i = 1; i < 4; ++i) {
      ASSERT_EQ(guest.Compute(first, {i, 2, 3, 4}), kSuccess);
      ASSERT_EQ(Pass(guest, second, first), kSuccess) << guest.LastError();
      ASSERT_EQ(guest.Compute(second), kSuccess);
      EXPECT_EQ(guest.Stats().copies_in, i) << "the first's";
      EXPECT_EQ(guest.Stats().copies_out, i - 1u);
      EXPECT_THAT(guest.Output(second), ElementsAre(i, 2, 3, 4));
    }
  }
}

// A state that goes round.
TEST_F(OutputToInput, MayBeOfTheSameContext) {
  for (const char* name : {"m", "bound", "shared"}) {
    const uint32_t context = guest_.NewContext(name);
    ASSERT_EQ(guest_.Compute(context, {1, 2, 3, 4}), kSuccess);
    const wasinn_statistics before = guest_.Stats();
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(Pass(guest_, context, context), kSuccess) << guest_.LastError();
      ASSERT_EQ(guest_.Compute(context), kSuccess);
    }
    EXPECT_EQ(guest_.Stats().bytes_in + guest_.Stats().bytes_out, before.bytes_in + before.bytes_out);
    EXPECT_LE(guest_.held(), before.tensor_bytes + 8) << "no more than the input, and what was taken last";
    EXPECT_THAT(guest_.Output(context), ElementsAre(1, 2, 3, 4));
  }
}

TEST_F(OutputToInput, StaysWhatItWas) {
  const uint32_t from = guest_.NewContext("m"), one = guest_.NewContext("m"), other = guest_.NewContext("bound");
  ASSERT_EQ(guest_.Compute(from, {1, 2, 3, 4}), kSuccess);
  ASSERT_EQ(Pass(guest_, one, from), kSuccess);
  ASSERT_EQ(Pass(guest_, other, from), kSuccess) << "once more";
  EXPECT_THAT(guest_.Output(from), ElementsAre(1, 2, 3, 4)) << "and it can be got";
  ASSERT_EQ(guest_.Compute(from, {9, 9, 9, 9}), kSuccess);
  ASSERT_EQ(guest_.Finalize(from), kSuccess);
  for (const uint32_t context : {one, other}) {
    ASSERT_EQ(guest_.Compute(context), kSuccess);
    EXPECT_THAT(guest_.Output(context), ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(guest_.Finalize(context), kSuccess);
  }
  EXPECT_EQ(guest_.held(), 0u);
}

TEST_F(OutputToInput, MustHaveTheInputsTypeAndShape) {
  const uint32_t from = guest_.NewContext("m");
  ASSERT_EQ(guest_.Compute(from, {1, 2, 3, 4}), kSuccess);
  const uint32_t three = guest_.NewContext("three"), floats = guest_.NewContext("floats");
  EXPECT_EQ(Pass(guest_, three, from), kInvalidArgument);
  EXPECT_THAT(guest_.LastError(),
              HasSubstr("set_input_from_output: invalid_argument: input 'x' takes u8 [3], given u8 [4]"));
  EXPECT_EQ(Pass(guest_, floats, from), kInvalidArgument);
  EXPECT_THAT(guest_.LastError(), HasSubstr("input 'x' takes f32 [1], given u8 [4]"));
  EXPECT_EQ(guest_.Compute(three), kInvalidArgument) << "nothing is set";
  EXPECT_THAT(guest_.Output(from), ElementsAre(1, 2, 3, 4)) << "nothing is gone";
}

TEST_F(OutputToInput, NeedsAnInputAndAnOutputThatAreThere) {
  const uint32_t from = guest_.NewContext("m"), to = guest_.NewContext("m");
  EXPECT_EQ(Pass(guest_, to, from), kInvalidArgument);
  EXPECT_THAT(guest_.LastError(), HasSubstr("there is no output before a successful compute"));
  ASSERT_EQ(guest_.Compute(from, {1, 2, 3, 4}), kSuccess);
  for (const uint32_t index : {1u, 0x80000000u, 0xffffffffu}) {
    EXPECT_EQ(Pass(guest_, to, from, index, 0), kInvalidArgument);
    EXPECT_THAT(guest_.LastError(), HasSubstr("there is no input " + std::to_string(index)));
    EXPECT_EQ(Pass(guest_, to, from, 0, index), kInvalidArgument);
    EXPECT_THAT(guest_.LastError(), HasSubstr("there is no output " + std::to_string(index)));
  }
  EXPECT_EQ(Pass(guest_, to, from), kSuccess);
}

TEST_F(OutputToInput, NeedsTwoContextsThatLive) {
  const uint32_t from = guest_.NewContext("m"), dead = guest_.NewContext("m");
  ASSERT_EQ(guest_.Compute(from, {1, 2, 3, 4}), kSuccess);
  ASSERT_EQ(guest_.Finalize(dead), kSuccess);
  uint32_t graph = 0;
  ASSERT_EQ(guest_.LoadByName("m", graph), kSuccess);
  BytesGuest other(host_.get());
  const uint32_t of_other = other.NewContext("m");
  ASSERT_EQ(other.NewContext("m"), dead) << "a handle of another guest is none of this one's";
  for (const uint32_t handle : {0u, dead, graph, 0xffffffffu}) {
    EXPECT_EQ(Pass(guest_, handle, from), kInvalidArgument) << handle;
    EXPECT_EQ(Pass(guest_, from, handle), kInvalidArgument) << handle;
    EXPECT_EQ(Pass(guest_, handle, handle), kInvalidArgument) << handle;
  }
  EXPECT_EQ(other.Compute(of_other), kInvalidArgument) << "its input is not set";
}

TEST_F(OutputToInput, IsRefusedWhileAContextComputes) {
  const Gate gate;
  AddEchoModel(host_.get(), "waits", "in x u8 4\n" + gate.Compute());
  const uint32_t idle = guest_.NewContext("m"), busy = guest_.NewContext("waits");
  ASSERT_EQ(guest_.Compute(idle, {1, 2, 3, 4}), kSuccess);
  ASSERT_EQ(guest_.Set(busy, {5, 6, 7, 8}), kSuccess);
  std::future<uint32_t> done = std::async(std::launch::async, [&] {
    FakeGuest other(guest_.guest.get());
    return other.Compute(busy);
  });
  gate.Await();
  EXPECT_EQ(Pass(guest_, busy, idle), kBusy);
  EXPECT_EQ(Pass(guest_, idle, busy), kBusy);
  EXPECT_EQ(Pass(guest_, busy, busy), kBusy);
  EXPECT_EQ(guest_.Compute(idle), kSuccess) << "that one is free again";
  gate.Open();
  EXPECT_EQ(done.get(), kSuccess);
  EXPECT_THAT(guest_.Output(busy), ElementsAre(5, 6, 7, 8));
}

// Memory that was given away is charged in addition to the context's memory for the next output.
TEST_F(OutputToInput, IsCharged) {
  AddEchoModel(host_.get(), "large", "in x u8 1000\n");
  BytesGuest guest(NewGuest(host_.get(), &wasinn_limits::max_tensor_bytes, 2500));
  const uint32_t context = guest.NewContext("large");
  ASSERT_EQ(guest.Compute(context, std::vector<uint8_t>(1000, 7)), kSuccess);
  EXPECT_EQ(guest.held(), 2000u);
  EXPECT_EQ(Pass(guest, context, context), kTooLarge);
  EXPECT_THAT(guest.LastError(), HasSubstr("limits.max_tensor_bytes"));
  EXPECT_EQ(guest.held(), 2000u);
  EXPECT_EQ(guest.Compute(context), kSuccess) << "the input is what it was";
  BytesGuest rich(NewGuest(host_.get(), &wasinn_limits::max_tensor_bytes, 3000));
  const uint32_t roomy = rich.NewContext("large");
  ASSERT_EQ(rich.Compute(roomy, std::vector<uint8_t>(1000, 7)), kSuccess);
  EXPECT_EQ(Pass(rich, roomy, roomy), kSuccess);
  EXPECT_EQ(rich.held(), 2000u) << "the input is the output";
}

// An output that still grows, or is in a worker, is copied once.
TEST_F(OutputToInput, CopiesWhatIsNotGivenAway) {
  AddEchoModel(host_.get(), "text", "in x u8 -1\npieces 4\n");
  const uint32_t context = guest_.NewContext("text"), to = guest_.NewContext("m");
  ASSERT_EQ(guest_.Set(context, {1, 2, 3, 4, 5, 6}), kSuccess);
  ASSERT_EQ(guest_.Call("compute_single", {context}), kSuccess);
  const uint64_t before = guest_.Stats().copies_out;
  ASSERT_EQ(Pass(guest_, to, context), kSuccess) << guest_.LastError();
  EXPECT_EQ(guest_.Stats().copies_out, before + 1);
  ASSERT_EQ(guest_.Compute(to), kSuccess);
  EXPECT_THAT(guest_.Output(to), ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace wasinn::testing
