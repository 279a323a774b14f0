// Inferences of separate guests that are computed together.
#include <wasinn/wasinn.hpp>

#include "unit/batched_models.h"
#include "unit/exposition.h"

namespace wasinn::testing {
namespace {

TEST_F(BatchedModels, GuestsComputeTogetherAndEachGetsItsOwnRows) {
  const HostPtr host = Host(Batches(4));
  auto programs = Programs(host, {1, 2});
  EXPECT_EQ(programs[0]->Set({3, 2}, {1, 1, 2, 2, 3, 3}), kSuccess);
  EXPECT_THAT(ComputeAll(programs), ElementsAre(kSuccess, kSuccess));
  EXPECT_THAT(Records(), ElementsAre("x[4,2] values"));
  EXPECT_EQ(programs[0]->Output(), Bytes({1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(programs[1]->Output(), Bytes({2, 99}));
  EXPECT_EQ(StatsOf(programs[0]->guest).computes, 1u);
}

TEST_F(BatchedModels, ABatchOfAPreferredSizeWaitsNoLonger) {
  const HostPtr host = Host("preferred_batch_size = [2]\n" + Batches(8));
  EXPECT_THAT(ComputeAll(Programs(host, {1, 2, 3, 4})), ElementsAre(kSuccess, kSuccess, kSuccess, kSuccess));
  EXPECT_THAT(Records(), ElementsAre("x[2,2] values", "x[2,2] values"));
}

TEST_F(BatchedModels, NoItemWaitsLongerThanTheDelay) {
  const HostPtr host = Host("max_batch_size = 8\nmax_queue_delay_microseconds = 1000\n");
  EXPECT_EQ(Programs(host, {1})[0]->Compute(), kSuccess);
  EXPECT_THAT(Records(), ElementsAre("x[1,2] values"));
}

TEST_F(BatchedModels, DifferentShapesAreNotMixed) {
  const HostPtr host = Host("max_batch_size = 8\nmax_queue_delay_microseconds = 20000\n", "in x u8 -1,-1\n");
  auto programs = Programs(host, {1, 2});
  EXPECT_EQ(programs[0]->Set({1, 3}, {1, 2, 3}), kSuccess);
  EXPECT_THAT(ComputeAll(programs), ElementsAre(kSuccess, kSuccess));
  EXPECT_THAT(Records(), UnorderedElementsAre("x[1,3] values", "x[1,2] values"));
}

TEST_F(BatchedModels, AnInputWithoutRowsIsComputedByItself) {
  const HostPtr host = Host(Batches(2), "in x u8 any\n");
  auto programs = Programs(host, {1});
  EXPECT_EQ(programs[0]->Set({0, 2}, {}), kSuccess);
  EXPECT_EQ(programs[0]->Compute(), kSuccess);
  EXPECT_EQ(programs[0]->Output(), Bytes());
}

TEST_F(BatchedModels, WithoutADelayALoneGuestDoesNotWait) {
  const HostPtr host = Host("max_batch_size = 8\n");
  auto programs = Programs(host, {1});
  EXPECT_EQ(programs[0]->Compute(), kSuccess);
  EXPECT_EQ(programs[0]->Output(), Bytes({1, 99}));
}

TEST_F(BatchedModels, OutputsThatAreKnownOnlyAfterARunAreBatchedToo) {
  const HostPtr host = Host(Batches(2), "in x u8 -1,2\nlate\n");
  auto programs = Programs(host, {1, 2});
  EXPECT_THAT(ComputeAll(programs), ElementsAre(kSuccess, kSuccess));
  EXPECT_THAT(Records(), ElementsAre("x[2,2] values"));
  EXPECT_EQ(programs[1]->Output(), Bytes({2, 99}));
}

std::map<std::string, double> MetricsOf(const HostPtr& host) {
  std::string text;
  const StatusPtr status(wasinn_host_metrics(
      host.get(),
      [](void* user, const char* from, size_t size) { static_cast<std::string*>(user)->assign(from, size); }, &text));
  return ReadMetrics(text);
}

TEST_F(BatchedModels, TheWaitForOthersCountsAsTheQueuesAndBatchesAreCounted) {
  const HostPtr host = Host(Batches(2), "in x u8 -1,2\n", "metrics = true\n");
  auto programs = Programs(host, {1, 2});
  const auto counted = [&](const std::string& name) {
    return MetricsOf(host).at("wasinn_" + name + R"({model="m",version="1",backend="echo"})");
  };
  EXPECT_THAT(ComputeAll(programs), ElementsAre(kSuccess, kSuccess));
  for (const char* stage : {"inference_queue", "inference_compute_infer"}) {
    EXPECT_EQ(counted(std::string(stage) + "_duration_seconds_count"), 2) << stage;
  }
  EXPECT_EQ(counted("batches_total"), 1);
  EXPECT_EQ(counted("batch_rows_total"), 2);
  EXPECT_EQ(programs[0]->Set({2, 2}, {1, 1, 2, 2}), kSuccess);  // no batch has room for it and another
  EXPECT_EQ(programs[0]->Compute(), kSuccess);
  EXPECT_EQ(counted("inference_queue_duration_seconds_count"), 3);
  EXPECT_EQ(counted("inference_compute_infer_duration_seconds_count"), 3);
  EXPECT_EQ(counted("batches_total"), 1);
}

// The whole pipeline is one model, so each step computes a batch and counts once for it. The pipeline counts guests' inferences.
TEST_F(BatchedModels, APipelineIsBatched) {
  const HostPtr host =
      EchoHost(log_, "metrics = true\n" + Model("s", "in x u8 -1,2\n") +
                         "[models.m]\nstep = [{ model_name = 's', output_map = { x = 'y' } },"
                         " { model_name = 's', input_map = { x = 'y' }, output_map = { x = 'z' } }]\n" +
                         BatchingOf("m", Batches(2)));
  auto programs = Programs(host, {1, 2});
  const auto counted = [&](const std::string& model, const std::string& backend) {
    return MetricsOf(host).at("wasinn_inferences_total{model=\"" + model + "\",version=\"1\",backend=\"" + backend +
                              "\",code=\"ok\"}");
  };
  EXPECT_THAT(ComputeAll(programs), ElementsAre(kSuccess, kSuccess));
  EXPECT_THAT(Records(), ElementsAre("x[2,2] values", "x[2,2] values"));
  EXPECT_EQ(programs[1]->Output(), Bytes({2, 99}));
  EXPECT_EQ(counted("m", "pipeline"), 2);
  EXPECT_EQ(counted("s", "echo"), 2);
  for (const char* stage :
       {"queue", "compute_infer"}) {  // a batch that did not know when it began counted from the epoch
    const double seconds = MetricsOf(host).at("wasinn_inference_" + std::string(stage) +
                                              R"(_duration_seconds_sum{model="m",version="1",backend="pipeline"})");
    EXPECT_GE(seconds, 0) << stage;
    EXPECT_LT(seconds, 3600) << stage;
  }
  EXPECT_EQ(programs[0]->Set({2, 2}, {1, 1, 2, 2}), kSuccess);  // no batch has room for it and another
  EXPECT_EQ(programs[0]->Compute(), kSuccess);
  EXPECT_EQ(counted("m", "pipeline"), 3);
  EXPECT_EQ(counted("s", "echo"), 4);
}

// Unwanted outputs are neither held nor charged, whether they were computed in a batch or separately.
TEST_F(BatchedModels, OnlyWantedOutputsAreHeld) {
  for (const char* late : {"", "late\n"}) {
    SCOPED_TRACE(late);
    const HostPtr host = Host(Batches(2), std::string("in x u8 -1,2\nin y u8 -1,1000\n") + late);
    std::vector<std::unique_ptr<BatchedProgram>> programs;
    for (uint8_t first = 1; first <= 2; ++first) {
      programs.push_back(std::make_unique<BatchedProgram>(host.get()));
      EXPECT_EQ(programs.back()->Set({1, 2}, {first, 99}), kSuccess);
      EXPECT_EQ(programs.back()->SetInput(programs.back()->context, 1, {1, 1000}, kU8, Bytes(1000, first)), kSuccess);
    }
    const uint64_t inputs = programs[0]->held();
    EXPECT_THAT(ComputeAll(programs), ElementsAre(kSuccess, kSuccess));
    EXPECT_EQ(programs[0]->held(), inputs + 1002);
    for (const auto& program : programs) {
      EXPECT_EQ(program->Call("wasinn_ext_0.set_output", {program->context, 0, 0, 0, 0}), kSuccess);
    }
    EXPECT_THAT(ComputeAll(programs), ElementsAre(kSuccess, kSuccess));
    EXPECT_EQ(programs[0]->held(), inputs + 2) << "together";
    EXPECT_EQ(programs[0]->Output(), Bytes({1, 99}));
    // As many rows as a batch has: by itself.
    EXPECT_EQ(programs[1]->Set({2, 2}, {7, 7, 8, 8}), kSuccess);
    EXPECT_EQ(programs[1]->SetInput(programs[1]->context, 1, {2, 1000}, kU8, Bytes(2000, 7)), kSuccess);
    EXPECT_EQ(programs[1]->Compute(), kSuccess);
    EXPECT_EQ(programs[1]->held(), 2 * inputs + 4) << "alone";
    EXPECT_EQ(programs[1]->Output(), Bytes({7, 7, 8, 8}));
  }
}

// A call that brings input x and, where it has one, y; a byte for each row. What it makes of them.
struct Once {
  explicit Once(wasinn_guest* guest, uint32_t context_of) : calls(guest), context(context_of) {}
  uint32_t Compute(uint8_t x, std::optional<uint8_t> y) {
    calls.Rewind();
    const uint32_t dims = calls.PutAll<uint32_t>({1, 1}), made = calls.Reserve(1);
    const uint32_t bytes = calls.PutAll<uint8_t>({x, y.value_or(0)});
    std::vector<uint32_t> inputs = {0, 0, dims, 2, kU8, bytes, 1};
    if (y) inputs.insert(inputs.end(), {0, 1, dims, 2, kU8, bytes + 1, 1});
    const std::vector<uint32_t> output = {0, y ? 1u : 0u, made, 1, ~0u};
    const uint32_t error =
        calls.Call("wasinn_ext_0.compute_once",
                   {context, calls.PutAll(inputs), y ? uint64_t{2} : uint64_t{1}, calls.PutAll(output), 1});
    result = calls.Read<uint8_t>(made);
    return error;
  }

  FakeGuest calls;
  uint32_t context;
  uint8_t result = 0;
};

// Else it would have others' input, or they its lack of one.
TEST_F(BatchedModels, AGuestThatLeavesAnOptionalInputOutIsNotMixedWithOneThatSetsIt) {
  const HostPtr host = Host("preferred_batch_size = [2]\n" + Batches(4), "in x u8 -1,1\nin y u8 -1,1 optional\n");
  std::vector<std::future<uint8_t>> results;
  for (uint8_t i = 0; i < 4; ++i) {
    results.push_back(std::async(std::launch::async, [&host, i] {
      const BatchedProgram program(host.get());
      Once once(program.guest.get(), program.context);
      EXPECT_EQ(i % 2 == 0 ? once.Compute(10, i) : once.Compute(i, std::nullopt), kSuccess);
      return once.result;
    }));
  }
  for (uint8_t i = 0; i < 4; ++i) EXPECT_EQ(results[i].get(), i);
  // If y is not set, its output has no rows: each is computed alone in the end.
  EXPECT_THAT(Records(),
              UnorderedElementsAre("x[2,1] y[2,1] values", "x[2,1] values", "x[1,1] values", "x[1,1] values"));
}

TEST_F(BatchedModels, ManyGuestsThatComeAndGo) {
  const HostPtr host = Host("max_batch_size = 4\nmax_queue_delay_microseconds = 300\n");
  std::vector<std::thread> threads;
  for (uint8_t t = 1; t <= 6; ++t) {
    threads.emplace_back([&host, t] {
      for (int round = 0; round < 5; ++round) {
        BatchedProgram program(host.get());
        for (uint8_t i = 0; i < 20; ++i) {
          const uint8_t first = i == 7 && t == 1 ? kPoison : static_cast<uint8_t>(100 + t);
          EXPECT_EQ(program.Set({1, 2}, {first, i == kPoison || i == kEndless ? uint8_t{0} : i}), kSuccess);
          EXPECT_EQ(program.Compute(), first == kPoison ? kRuntimeError : kSuccess);
          if (first == kPoison) continue;
          EXPECT_EQ(program.Output().front(), first);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

struct Refused {
  const char* name;
  const char* batching;
  const char* model;
  const char* message;
};
class RefusedBatching : public BatchedModels, public ::testing::WithParamInterface<Refused> {};

TEST_P(RefusedBatching, SaysWhy) {
  const auto& [name, batching, model, message] = GetParam();
  const HostPtr host = Host(batching, model);
  ASSERT_NE(host, nullptr);
  const GuestPtr guest = NewGuest(host.get());
  FakeGuest calls(guest.get());
  uint32_t graph = 0;
  EXPECT_NE(calls.LoadByName("m", graph), kSuccess);
  EXPECT_TRUE(log_.Contains(message)) << ::testing::PrintToString(log_.lines());
}

INSTANTIATE_TEST_SUITE_P(
    Models, RefusedBatching,
    ::testing::Values(
        Refused{"fixed", "max_batch_size = 2\n", "in x u8 1,2\n",
                "model 'm:1' cannot have batches (max_batch_size): expected an open first dimension of input "
                "'x', found u8 [1, 2]"},
        Refused{"scalar", "max_batch_size = 2\n", "in x u8 scalar\n", "of input 'x', found u8 []"},
        Refused{"opaque", "max_batch_size = 2\n", "in x u8 -1 opaque\n", "input 'x' is not a tensor of rows"},
        Refused{"stateful", "max_batch_size = 2\n", "in x u8 -1\nstateful\n",
                "it has a state, which would pass from one guest to the next"},
        Refused{"unservable", "max_batch_size = 2\n", "in x u8 -1 unservable\n",
                "cannot be passed as a tensor of numbers"}),
    [](const auto& refused) { return refused.param.name; });

}  // namespace
}  // namespace wasinn::testing
