// Batches in which something goes wrong: it is one guest's.
#include "support/gate.h"
#include "unit/batched_models.h"
#include "unit/forked.h"
#include "unit/no_memory.h"

namespace wasinn::testing {
namespace {

using std::chrono::milliseconds;

// And spoils no further batch, until it succeeds by itself once.
TEST_F(BatchedModels, AGuestThatFailsABatchFailsNoOther) {
  const HostPtr host = Host(Batches(3));
  auto programs = Programs(host, {1, kPoison, 3});
  EXPECT_THAT(ComputeAll(programs), ElementsAre(kSuccess, kRuntimeError, kSuccess));
  EXPECT_EQ(programs[0]->Output(), Bytes({1, 99}));
  EXPECT_EQ(programs[2]->Output(), Bytes({3, 99}));
  EXPECT_TRUE(log_.Contains("compute fails on such an input"));
  EXPECT_EQ(programs[1]->Compute(), kRuntimeError) << "without waiting for another";
  EXPECT_EQ(programs[1]->Set({1, 2}, {2, 2}), kSuccess);
  EXPECT_EQ(programs[1]->Compute(), kSuccess) << "as above";
  std::filesystem::remove(records_);
  EXPECT_THAT(ComputeAll(programs), ElementsAre(kSuccess, kSuccess, kSuccess));
  EXPECT_THAT(Records(), ElementsAre("x[3,2] values"));
}

// Though it succeeds by itself.
TEST_F(BatchedModels, AGuestThatIsTooSlowForABatchSpoilsNoFurtherOne) {
  const Gate gate;
  const HostPtr host = Turned(Batches(2), "in x u8 -1,2\ngated 19\n" + gate.Compute());
  auto programs = Programs(host, {1, 2});
  EXPECT_THAT(ComputeAll(programs), ElementsAre(kSuccess, kSuccess)) << "it is known how long batches take";
  EXPECT_EQ(programs[1]->Set({1, 2}, {19, 99}), kSuccess);
  auto quick = Begin(*programs[0]), slow = Begin(*programs[1]);
  AwaitRecords(2);
  Turn(hands_, host, milliseconds(200));  // the batch ends
  EXPECT_EQ(quick.get(), kSuccess);
  AwaitRecords(4);
  Turn(hands_, host, milliseconds(200));
  gate.Open();
  EXPECT_EQ(slow.get(), kSuccess);
  EXPECT_EQ(programs[1]->Compute(), kSuccess) << "without waiting for another";
}

// Each time, even if a batch is a step of the guest's pipeline.
TEST_F(BatchedModels, AComputeThatDoesNotEndCostsOtherGuestsNoResult) {
  for (const bool as_step : {false, true}) {
    const std::string name = as_step ? "s" : "m";
    const std::string pipeline = "[models.m]\nstep = [{ model_name = 's', output_map = { x = 'y' } }]\n";
    const HostPtr host = TurnedHost(
        hands_, log_, Model(name, "in x u8 -1,2\n") + BatchingOf(name, Batches(3)) + (as_step ? pipeline : ""));
    for (int round = 0; round < 2; ++round) {
      std::filesystem::remove(records_);
      auto programs = Programs(host, {1, 3});
      programs.insert(programs.begin() + 1, std::move(Programs(host, {kEndless}, 2000)[0]));
      auto computes = std::async(std::launch::async, [&] { return ComputeAll(programs); });
      AwaitRecords(1);
      Turn(hands_, host, milliseconds(1000));  // half of its time is over: it is computed alone
      AwaitRecords(2);
      Turn(hands_, host, milliseconds(4000));  // its whole time, and that of any batch
      EXPECT_THAT(computes.get(), ElementsAre(kSuccess, kRuntimeError, kSuccess)) << round;
      EXPECT_EQ(programs[2]->Output(), Bytes({3, 99}));
    }
    EXPECT_TRUE(log_.Contains("the compute was stopped after 2000 ms")) << ::testing::PrintToString(log_.lines());
    EXPECT_FALSE(log_.Contains("was closed")) << ::testing::PrintToString(log_.lines());
  }
}

// It alone: the others may have more time.
TEST_F(BatchedModels, AGuestLeavesItsBatchWhenHalfOfItsTimeIsOver) {
  const Gate gate;
  const HostPtr host = Turned(Batches(2), "in x u8 -1,2\n" + gate.Compute());
  auto programs = Programs(host, {1}, 400);
  programs.push_back(std::move(Programs(host, {2})[0]));
  auto computes = std::async(std::launch::async, [&] { return ComputeAll(programs); });
  AwaitRecords(1);
  Turn(hands_, host, milliseconds(200));
  AwaitRecords(2);
  EXPECT_THAT(Records(), ElementsAre("x[2,2] values", "x[1,2] values"));
  Turn(hands_, host, milliseconds(200));
  while (!log_.Contains("the compute was stopped after 400 ms")) std::this_thread::yield();
  gate.Open();
  EXPECT_THAT(computes.get(), ElementsAre(kRuntimeError, kSuccess));
  EXPECT_EQ(programs[1]->Output(), Bytes({2, 99}));
  EXPECT_EQ(Records().size(), 2u) << "the batch went on";
}

// No other guest's deadline waits until what it has computed on is freed.
TEST_F(BatchedModels, NoDeadlineWaitsForASlotThatIsFreed) {
  const Gate gate;
  const HostPtr host = Turned("max_batch_size = 2\n", "in x u8 -1,2\n" + gate.Free());
  AddEchoModel(host.get(), "other", "in x u8 1\nendless 1\n");
  auto programs = Programs(host, {kEndless}, 200);
  auto compute = Begin(*programs[0]);
  AwaitRecords(1);
  Turn(hands_, host, milliseconds(200));
  gate.Await();
  BytesGuest other(NewGuest(host.get(), &wasinn_limits::compute_timeout_ms, 200));
  const uint32_t context = other.NewContext("other");
  EXPECT_EQ(other.Set(context, {1}), kSuccess);
  auto timeout = std::async(std::launch::async, [&] { return other.Compute(context); });
  EXPECT_EQ(TurnUntilDone(hands_, timeout), kRuntimeError);
  gate.Open();
  EXPECT_EQ(compute.get(), kRuntimeError);
}

// As much as its inferences may by themselves: 100 bytes of the model for each one of an input.
TEST_F(BatchedModels, ABatchMayAllocateWhatItsGuestsMayTogether) {
  const HostPtr host = Host(Batches(2), "in x u8 -1,2\ntakes 100\n");
  const auto program = [&](uint64_t bytes) {
    auto made = std::make_unique<BatchedProgram>(host.get(), 30000, bytes);
    EXPECT_EQ(made->Set({1, 2}, {1, 99}), kSuccess);
    return made;
  };
  std::vector<std::unique_ptr<BatchedProgram>> programs;
  programs.push_back(program(150));
  programs.push_back(program(250));
  EXPECT_THAT(ComputeAll(programs), ElementsAre(kSuccess, kSuccess));
  EXPECT_THAT(Records(), ElementsAre("x[2,2] values"));
  programs[1] = program(200);
  EXPECT_THAT(ComputeAll(programs), ElementsAre(kTooLarge, kSuccess));
  EXPECT_TRUE(log_.Contains("the compute takes 200 bytes of 150"));
}

TEST_F(BatchedModels, AGuestThatIsStoppedLeavesTheQueue) {
  const HostPtr host = Host(Batches(2));
  auto programs = Programs(host, {1, 2, 3});
  auto compute = Begin(*programs[0]);
  while (StatsOf(programs[0]->guest).computes == 0) std::this_thread::yield();
  wasinn_guest_stop(programs[0]->guest.get());
  EXPECT_EQ(compute.get(), kRuntimeError);
  programs.erase(programs.begin());
  EXPECT_THAT(ComputeAll(programs), ElementsAre(kSuccess, kSuccess));
  EXPECT_THAT(Records(), ElementsAre("x[2,2] values"));
}

TEST_F(BatchedModels, AGuestThatIsStoppedLeavesItsBatchToTheOthers) {
  const Gate gate;
  const HostPtr host = Host(Batches(2), "in x u8 -1,2\n" + gate.Compute());
  auto programs = Programs(host, {1, 2});
  auto computes = std::async(std::launch::async, [&] { return ComputeAll(programs); });
  gate.Await();
  wasinn_guest_stop(programs[0]->guest.get());
  gate.Open();
  EXPECT_THAT(computes.get(), ElementsAre(kRuntimeError, kSuccess));
  EXPECT_EQ(programs[1]->Output(), Bytes({2, 99}));
}

TEST_F(BatchedModels, ABatchEndsWhenNoItemIsLeft) {
  const Gate gate;
  const HostPtr host = Host(Batches(2), "in x u8 -1,2\n" + gate.Compute());
  auto programs = Programs(host, {1, 2});
  auto computes = std::async(std::launch::async, [&] { return ComputeAll(programs); });
  gate.Await();
  for (const auto& program : programs) wasinn_guest_stop(program->guest.get());
  EXPECT_THAT(computes.get(), ElementsAre(kRuntimeError, kRuntimeError));
  // Its thread would else wait at the gate when the host is freed.
}

TEST_F(BatchedModels, AModelWhoseOutputsAreNoRowsIsNotBatchedAfterThreeTries) {
  const HostPtr host = Host(Batches(2), "in x u8 -1,2\noutgrows 5\n");
  auto programs = Programs(host, {1, 2});
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(ComputeAll(programs), ElementsAre(kSuccess, kSuccess));
    EXPECT_EQ(programs[0]->Output().size(), 5u);
  }
  EXPECT_EQ(std::ranges::count(Records(), "x[2,2] values"), 3);
  EXPECT_TRUE(log_.Contains("model 'm:1': outputs of a batch do not have its rows, 3 times in a row"));
}

// An output that a signature would have described.
TEST_F(BatchedModels, ALateOutputThatIsNoTensorFailsItsCompute) {
  const HostPtr host = Host(Batches(2), "in x u8 -1,2\nlate\nopaque_outputs\n");
  auto programs = Programs(host, {1, 2});
  EXPECT_THAT(ComputeAll(programs), ElementsAre(kUnsupportedOperation, kUnsupportedOperation));
  EXPECT_TRUE(log_.Contains("output 'x' is of type echo, which cannot be passed as a tensor of numbers"))
      << ::testing::PrintToString(log_.lines());
}

// Neither a batch nor a compute alone waits for it.
TEST_F(BatchedModels, NoItemWaitsForTheMakingOfAContext) {
  for (const uint32_t rows : {1u, 2u}) {
    const Gate gate;
    const HostPtr host =
        Turned("max_batch_size = 2\nmax_queue_delay_microseconds = 1\n", "in x u8 -1,2\n" + gate.Context());
    BatchedProgram program(host.get(), 500);
    EXPECT_EQ(program.Set({rows, 2}, Bytes(size_t{rows} * 2, 1)), kSuccess);
    auto compute = Begin(program);
    gate.Await();
    EXPECT_EQ(TurnUntilDone(hands_, compute), kRuntimeError);
    EXPECT_TRUE(log_.Contains("500 ms"));
  }
}

// None of the threads is there: neither is waited for.
TEST_F(BatchedModels, AForkedProcessIsRefusedAndMayFree) {
  HostPtr host = Host(Batches(2));
  auto programs = Programs(host, {1, 2});
  EXPECT_THAT(ComputeAll(programs), ElementsAre(kSuccess, kSuccess));
  EXPECT_TRUE(IsTrueInAFork([&] {
    const bool refused = programs[0]->Compute() == kRuntimeError;
    programs.clear();
    host.reset();
    return refused;
  }));
  EXPECT_THAT(ComputeAll(programs), ElementsAre(kSuccess, kSuccess));
}

// On the thread that brings an inference.
TEST_F(BatchedModels, WithoutMemoryAComputeIsAnError) {
  const HostPtr host = Host("max_batch_size = 8\nmax_queue_delay_microseconds = 1\n");
  int failures = 0;
  for (int allowed = 0, failed = 1; failed > 0; ++allowed) {
    auto programs = Programs(host, {1});
    const std::vector<uint64_t> args = {programs[0]->context};
    uint32_t error = kSuccess;
    {
      const NoMemory scarce(allowed);
      error = programs[0]->Call("compute", args);
      failed = NoMemory::failed();
    }
    if (error != kSuccess) ++failures;
    EXPECT_EQ(programs[0]->Compute(), kSuccess);
    EXPECT_EQ(programs[0]->Output(), Bytes({1, 99}));
  }
  EXPECT_GT(failures, 0);
}

}  // namespace
}  // namespace wasinn::testing
