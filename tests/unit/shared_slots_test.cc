// Contexts that share a model's slots, since there are more of them than may compute at once.
#include "support/gate.h"
#include "unit/bytes_guest.h"

namespace wasinn::testing {
namespace {

constexpr uint32_t kComputes = 2;

class SharedSlots : public ::testing::Test {
 protected:
  void Open(const std::string& toml = "") {
    host_ = EchoHost(log_, "log.level = 'info'\nmax_computes = " + std::to_string(kComputes) + "\n" + toml);
  }
  void AddModel(const char* name, const std::string& more = "") {
    AddEchoModel(host_.get(), name, "in x u8 -1\nin y u8 4 bindable optional\nshares\nturns 0\n" + more);
  }
  // Closes the host.
  void ExpectSlots(uint32_t most) {
    host_.reset();
    const std::string said =
        "closed with 0 models and 0 slots alive, 0 outputs taken, after " + std::to_string(most) + " slots at most";
    EXPECT_TRUE(log_.Contains(said)) << ::testing::PrintToString(log_.lines());
  }
  // The same.
  void ExpectInputsBound(uint32_t times) {
    host_.reset();
    EXPECT_TRUE(log_.Contains(", " + std::to_string(times) + " inputs bound"))
        << ::testing::PrintToString(log_.lines());
  }

  Log log_;
  HostPtr host_;
};

TEST_F(SharedSlots, AreFewAndMixNothingUp) {
  Open();
  AddModel("m");
  {
    BytesGuest one(host_.get()), other(host_.get());
    std::vector<uint32_t> ones, others;
    for (int i = 0; i < 10; ++i) {
      ones.push_back(one.NewContext("m"));
      others.push_back(other.NewContext("m"));
    }
    for (uint8_t round = 0; round < 3; ++round) {
      for (uint8_t i = 0; i < 10; ++i) {
        ASSERT_EQ(one.Set(ones[i], {i, round}), kSuccess);
        ASSERT_EQ(other.Compute(others[i], {9, i, round}), kSuccess);
      }
      for (uint8_t i = 10; i-- > 0;) ASSERT_EQ(one.Compute(ones[i]), kSuccess);
      for (uint8_t i = 0; i < 10; ++i) {
        EXPECT_THAT(one.Output(ones[i]), ElementsAre(i, round));
        EXPECT_THAT(other.Output(others[i]), ElementsAre(9, i, round));
        EXPECT_THAT(one.Output(ones[i]), ElementsAre(i, round)) << "twice";
      }
    }
    // Inputs stay until they are set again.
    ASSERT_EQ(one.Compute(ones[9]), kSuccess);
    EXPECT_THAT(one.Output(ones[9]), ElementsAre(9, 2));
  }
  ExpectSlots(2 * kComputes);  // the first contexts have their own
}

// The bindings of a guest that is gone are neither seen nor made again.
TEST_F(SharedSlots, SlotsOfGuestsThatAreGoneServeTheNext) {
  Open();
  AddEchoModel(host_.get(), "m", "in x u8 2\nin y u8 4 bindable optional\nshares\nturns 0\nkeeps 1000\n");
  for (uint8_t i = 0; i < 10; ++i) {
    BytesGuest guest(host_.get());
    const uint32_t first = guest.NewContext("m"), second = guest.NewContext("m");
    EXPECT_EQ(guest.held(), 2 * (2 + 4u)) << "outputs alone: what a slot keeps is the host's";
    EXPECT_EQ(guest.Compute(second), kInvalidArgument) << "no input is set";
    ASSERT_EQ(guest.Compute(first, {i, 1}), kSuccess);
    EXPECT_THAT(guest.Output(first), ElementsAre(i, 1));
  }
  ExpectSlots(kComputes);
  EXPECT_TRUE(log_.Contains(" " + std::to_string(kComputes) + " slots made")) << ::testing::PrintToString(log_.lines());
}

TEST_F(SharedSlots, OutputsAreChargedAsLongAsTheyAreThere) {
  Open();
  AddModel("m", "keeps 1000\n");
  BytesGuest guest(host_.get());
  std::vector<uint32_t> contexts;
  for (int i = 0; i < 4; ++i) contexts.push_back(guest.NewContext("m"));
  // Each has 4 bytes for the output that is bound.
  EXPECT_EQ(guest.held(), kComputes * 1000u + 4 * 4u) << "slots that are shared are the host's";
  ASSERT_EQ(guest.Compute(contexts[3], {1, 2, 3}), kSuccess);
  EXPECT_EQ(guest.held(), kComputes * 1000u + 4 * 4u + 3 + 3);
  ASSERT_EQ(guest.Compute(contexts[3], {1}), kSuccess);
  EXPECT_EQ(guest.held(), kComputes * 1000u + 4 * 4u + 1 + 1);
  ASSERT_EQ(guest.Finalize(contexts[3]), kSuccess);
  EXPECT_EQ(guest.held(), kComputes * 1000u + 3 * 4u);
  // The next one has the place that is free now.
  ASSERT_EQ(guest.Finalize(contexts[0]), kSuccess);
  guest.NewContext("m");
  EXPECT_EQ(guest.held(), kComputes * 1000u + 3 * 4u);
}

TEST_F(SharedSlots, AnOutputThatCannotBePaidFailsTheCompute) {
  Open("[limits]\nmax_tensor_bytes = 100\n");
  AddModel("m");
  BytesGuest guest(host_.get());
  for (uint32_t i = 0; i < kComputes; ++i) guest.NewContext("m");
  const uint32_t context = guest.NewContext("m");
  EXPECT_EQ(guest.Compute(context, std::vector<uint8_t>(60)), kTooLarge);
  const uint32_t buffer = guest.Reserve(100);
  EXPECT_EQ(guest.Call("get_output", {context, 0, buffer, 60, buffer + 60}), kInvalidArgument);
  ASSERT_EQ(guest.Compute(context, {1, 2}), kSuccess);
  EXPECT_THAT(guest.Output(context), ElementsAre(1, 2));
}

TEST_F(SharedSlots, OneThatIsWornOutIsReplaced) {
  Open();
  AddModel("m", "wears\n");
  {
    BytesGuest guest(host_.get());
    std::vector<uint32_t> contexts;
    for (int i = 0; i < 6; ++i) contexts.push_back(guest.NewContext("m"));
    for (uint8_t i = 0; i < 6; ++i) {
      ASSERT_EQ(guest.Compute(contexts[i], {i}), kSuccess);
      EXPECT_THAT(guest.Output(contexts[i]), ElementsAre(i));
    }
  }
  ExpectSlots(2 * kComputes);
}

constexpr char kFixed[] = "in x u8 4 bindable\nin y u8 4 optional\nshares\nturns 0\n";

TEST_F(SharedSlots, OneThatIsHadAgainIsBoundStill) {
  Open();
  AddEchoModel(host_.get(), "m", kFixed);
  {
    BytesGuest guest(host_.get());
    for (uint32_t i = 0; i < kComputes; ++i) guest.NewContext("m");
    const uint32_t context = guest.NewContext("m");
    for (uint8_t i = 0; i < 10; ++i) {
      ASSERT_EQ(guest.Compute(context, {i, 2, 3, 4}), kSuccess);
      EXPECT_THAT(guest.Output(context), ElementsAre(i, 2, 3, 4));
    }
  }
  ExpectInputsBound(1);
}

TEST_F(SharedSlots, InputsThatHaveChangedAreBoundAgain) {
  Open();
  AddEchoModel(host_.get(), "m", kFixed);
  {
    BytesGuest guest(host_.get());
    for (uint32_t i = 0; i < kComputes; ++i) guest.NewContext("m");
    // Both have a slot, in turn: so each finds the one that it had.
    const uint32_t first = guest.wit.ContextOf("m"), second = guest.NewContext("m");
    for (uint8_t i = 0; i < 4; ++i) {
      WitGuest::Named inputs{{"x", guest.wit.Tensor({4}, kWitU8, {i, 0, 0, 1}).rep}};
      // It is not there the next time.
      if (i % 2 == 0) inputs.emplace_back("y", guest.wit.Tensor({4}, kWitU8, {i, 0, 0, 2}).rep);
      const Outcome done = guest.wit.Compute(first, inputs);
      ASSERT_TRUE(done.ok()) << done;
      ASSERT_EQ(guest.Compute(second, {9, i, 9, 9}), kSuccess);
      EXPECT_THAT(guest.wit.Data(done.outputs[0].second), ElementsAre(i, 0, 0, 1));
      EXPECT_THAT(guest.Output(second), ElementsAre(9, i, 9, 9));
    }
  }
  ExpectInputsBound(4 + 2 + 1);
}

TEST_F(SharedSlots, ForAnotherTheyAreAsNew) {
  Open();
  AddEchoModel(host_.get(), "m", kFixed);
  BytesGuest guest(host_.get());
  for (uint32_t i = 0; i < kComputes; ++i) guest.NewContext("m");
  std::vector<uint32_t> contexts;
  for (int i = 0; i < 5; ++i) contexts.push_back(guest.NewContext("m"));
  for (uint8_t i = 0; i < 10; ++i) {
    ASSERT_EQ(guest.Compute(contexts[i % 4], {i, 1, 1, 1}), kSuccess);
    EXPECT_EQ(guest.Compute(contexts[4]), kInvalidArgument) << "its input is not set, whatever others had";
    // The same for one that has gone: the next may lie where it lay.
    ASSERT_EQ(guest.Finalize(contexts[i % 4]), kSuccess);
    contexts[i % 4] = guest.NewContext("m");
    EXPECT_EQ(guest.Compute(contexts[i % 4]), kInvalidArgument);
  }
}

// Slots whose computes may take as much are equal.
TEST_F(SharedSlots, SlotsOfOtherLimitsGiveWay) {
  Open();
  AddEchoModel(host_.get(), "m", kFixed);
  {
    std::vector<std::unique_ptr<BytesGuest>> guests;
    for (uint64_t i = 0; i < 6; ++i) {
      guests.push_back(std::make_unique<BytesGuest>(NewGuest(host_.get(), &wasinn_limits::max_tensor_bytes, 1000 + i)));
      const uint32_t context = guests.back()->NewContext("m");
      ASSERT_EQ(guests.back()->Compute(context, {1, 2, 3, 4}), kSuccess);
      EXPECT_THAT(guests.back()->Output(context), ElementsAre(1, 2, 3, 4));
    }
  }
  ExpectSlots(2 * kComputes);
}

TEST_F(SharedSlots, ADeadlineEndsTheMakingOfOne) {
  Open();
  const Gate gate;
  gate.Open();
  // Each is used once; the next is made within a compute.
  AddModel("m", "wears\n" + gate.Context());
  BytesGuest guest(host_.get()), hurried(NewGuest(host_.get(), &wasinn_limits::compute_timeout_ms, 50u));
  for (uint32_t i = 0; i < kComputes; ++i) guest.NewContext("m");
  const uint32_t first = guest.NewContext("m"), context = hurried.NewContext("m");
  for (uint32_t i = 0; i < kComputes; ++i) ASSERT_EQ(guest.Compute(first, {1}), kSuccess);
  gate.Close();
  EXPECT_EQ(hurried.Compute(context, {1}), kRuntimeError);
  EXPECT_TRUE(log_.Contains("echo: the compute was stopped after 50 ms: making the slot was cancelled"))
      << ::testing::PrintToString(log_.lines());
  gate.Open();
}

TEST_F(SharedSlots, ComponentsTakeOutputsOfThem) {
  Open();
  AddModel("m");
  {
    BytesGuest guest(host_.get());
    for (uint32_t i = 0; i < kComputes; ++i) guest.NewContext("m");
    const uint32_t first = guest.wit.ContextOf("m"), second = guest.wit.ContextOf("m");
    std::vector<uint32_t> outputs;
    for (uint8_t i = 0; i < 4; ++i) {
      const uint32_t x = guest.wit.Tensor({2}, kWitU8, {i, i}).rep, y = guest.wit.Tensor({4}, kWitU8, {i, 0, 0, 7}).rep;
      const Outcome done = guest.wit.Compute(i % 2 == 0 ? first : second, {{"x", x}, {"y", y}});
      ASSERT_TRUE(done.ok()) << done;
      for (const auto& [name, tensor] : done.outputs) outputs.push_back(tensor);
    }
    guest.wit.DropContext(first);
    for (uint8_t i = 0; i < 4; ++i) {
      EXPECT_THAT(guest.wit.Data(outputs[2 * i]), ElementsAre(i, i));
      EXPECT_THAT(guest.wit.Data(outputs[2 * i + 1]), ElementsAre(i, 0, 0, 7));
    }
  }
  ExpectSlots(2 * kComputes);
}

// While others compute, are cancelled, and go.
TEST_F(SharedSlots, ManyThreadsUseThem) {
  Open("[limits]\ncompute_timeout_ms = 60000\n");
  AddModel("m");
  {
    std::vector<std::thread> threads;
    for (uint8_t t = 0; t < 6; ++t) {
      threads.emplace_back([this, t] {
        for (int guests = 0; guests < 5; ++guests) {
          BytesGuest guest(host_.get());
          const uint32_t first = guest.NewContext("m"), second = guest.NewContext("m");
          for (uint8_t i = 0; i < 20; ++i) {
            EXPECT_EQ(guest.Compute(first, {t, i}), kSuccess);
            EXPECT_EQ(guest.Compute(second, {i, t, 1}), kSuccess);
            EXPECT_THAT(guest.Output(first), ElementsAre(t, i));
            EXPECT_THAT(guest.Output(second), ElementsAre(i, t, 1));
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_F(SharedSlots, ADeadlineEndsTheRunningComputeAndNotTheNext) {
  Open("[limits]\ncompute_timeout_ms = 50\n");
  AddModel("slow", "delay 60000\n");
  AddModel("m");
  BytesGuest guest(host_.get());
  for (uint32_t i = 0; i < kComputes; ++i) guest.NewContext("slow");
  const uint32_t context = guest.NewContext("slow"), other = guest.NewContext("slow");
  EXPECT_EQ(guest.Compute(context, {1}), kRuntimeError);
  EXPECT_TRUE(log_.Contains("the compute was stopped after 50 ms"));
  EXPECT_EQ(guest.Compute(other, {1}), kRuntimeError);
}

}  // namespace
}  // namespace wasinn::testing
