// Models that run in a worker: the same results, and nothing lost but what was the worker's.
#include <unistd.h>

#include <csignal>

#include "core/models/blob.h"
#include "support/own_process.h"
#include "support/this_build.h"
#include "unit/exposition.h"
#include "unit/forked.h"
#include "unit/isolated_program.h"
#include "unit/turned_host.h"

namespace wasinn::testing {
namespace {

std::vector<float> Numbers(size_t count) {
  std::vector<float> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 1.0f);
  return numbers;
}

std::map<std::string, double> MetricsOf(const HostPtr& host) {
  std::map<std::string, double> metrics;
  const auto read = [](void* user, const char* text, size_t size) {
    *static_cast<std::map<std::string, double>*>(user) = ReadMetrics({text, size});
  };
  EXPECT_EQ(wasinn_host_metrics(host.get(), read, &metrics), nullptr);
  return metrics;
}

TEST_F(Isolation, ComputesTheSame) {
  const HostPtr apart = Host(), here = EchoHost(log);
  Program program(apart.get()), same(here.get());
  for (const char* model : {"in x f32 3\n", "in x f32 -1\n", "in x f32 3 bindable\n", "in x f32 any\nlate\n",
                            "in x f32 3\nshares\n", "in x f32 3\noutgrows 4000\n"}) {
    const uint32_t context = program.Open(model), other = same.Open(model);
    ASSERT_NE(context, 0u) << model;
    for (const std::vector<float>& values : {std::vector<float>{1, 2, 3}, std::vector<float>{4, 5, 6}}) {
      const std::vector<float> output = program.Infer(context, values);
      EXPECT_GE(output.size(), 3u) << model;
      EXPECT_EQ(output, same.Infer(other, values)) << model;
    }
  }
}

// Large ones lie in memory that both sides have, small ones are copied there.
TEST_F(Isolation, InputsOfAnySize) {
  const HostPtr host = Host();
  Program program(host.get(), 16 << 20);
  const uint32_t context = program.Open("in x f32 -1\n");
  for (const size_t count : {1, 1000, 1024, 100'000, 7, 100'000, 200'000, 3}) {
    EXPECT_EQ(program.Infer(context, Numbers(count)), Numbers(count)) << count;
  }
}

// Its signature is longer than a message may be.
TEST_F(Isolation, AModelOfManyInputs) {
  const HostPtr host = Host();
  Program program(host.get(), 8 << 20);
  std::string directives;
  for (int i = 0; i < 9000; ++i) directives += "in an-input-of-a-long-name-" + std::to_string(i) + " f32 1 optional\n";
  const uint32_t context = program.Open(directives);
  ASSERT_NE(context, 0u);
  EXPECT_EQ(program.Infer(context, {7}), std::vector<float>({7}));
}

// An output for which a backend shows no bytes.
TEST_F(Isolation, AnOutputThatIsNotWanted) {
  const HostPtr host = Host();
  Program program(host.get());
  const uint32_t context = program.Open("in x f32 -1\nin y f32 -1\n");
  EXPECT_EQ(program.Call("wasinn_ext_0.set_output", {context, 1, 0, 0, 0}), kSuccess);
  for (uint32_t index : {0, 1}) {
    EXPECT_EQ(program.Set(context, {1, 2}, index), kSuccess);
  }
  EXPECT_EQ(program.Compute(context), kSuccess) << ::testing::PrintToString(log.lines());
  EXPECT_EQ(program.Output(context, 1), (std::vector<float>{1, 2}));
}

TEST_F(Isolation, OnlyTheWorkerDies) {
  const HostPtr host = Host();
  Program program(host.get()), other(host.get());
  const uint32_t witness = other.Open("in x f32 1\n");
  const uint32_t before = program.Open("in x f32 1\n"), dies = program.Open("in x f32 1\ndies compute\n");
  EXPECT_EQ(program.Infer(before, {1}), std::vector<float>({1}));
  EXPECT_TRUE(program.Infer(dies, {1}).empty());
  const std::string model = EchoModel("in x f32 1\ndies compute\n");
  const std::span bytes(reinterpret_cast<const uint8_t*>(model.data()), model.size());
  EXPECT_THAT(log.lines(), Contains(AllOf(HasSubstr("; it served a guest; with it the models"), HasSubstr("signal 11"),
                                          HasSubstr(core::DigestOf(bytes)))));
  // With it goes what it held.
  EXPECT_EQ(program.Compute(before), kRuntimeError);
  EXPECT_THAT(log.lines(), Contains(HasSubstr("load the model again")));
  EXPECT_EQ(other.Infer(witness, {2}), std::vector<float>({2}));
  EXPECT_EQ(program.Infer(program.Open("in x f32 1\n"), {3}), std::vector<float>({3}));
}

// As b2sum -l 256 says.
TEST(Digest, IsThatOfB2sum) {
  EXPECT_EQ(core::DigestOf(std::span(reinterpret_cast<const uint8_t*>("abc"), 3)),
            "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}

TEST_F(Isolation, DeathAtALoad) {
  const HostPtr host = Host();
  Program program(host.get());
  EXPECT_EQ(program.Open("in x f32 1\ndies load\n"), 0u);
  EXPECT_EQ(program.Stats().graphs, 0u);
  EXPECT_EQ(program.Stats().model_bytes, 0u);
  EXPECT_EQ(program.Infer(program.Open("in x f32 1\n"), {3}), std::vector<float>({3}));
}

TEST_F(Isolation, DeathAtAnUnload) {
  const HostPtr host = Host();
  Program program(host.get());
  uint32_t graph = 0;
  ASSERT_EQ(program.LoadBytes(EchoModel("in x f32 1\ndies unload\n"), kGgmlEncoding, graph), kSuccess);
  wasinn_guest_close(program.guest.get());
  EXPECT_EQ(program.Stats().model_bytes, 0u);
}

TEST_F(Isolation, AGuestThatLosesWorkersInARowRests) {
  core::Clock::Hands hands;
  const HostPtr host = TurnedHost(hands, log, Settings());
  Program program(host.get()), other(host.get());
  for (const int rest : {1, 2}) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(program.Open("dies load\n"), 0u);
    EXPECT_EQ(program.Open("in x f32 1\n"), 0u);
    EXPECT_THAT(log.lines(),
                Contains(HasSubstr("unavailable: echo: its workers ended 3 times in a row: no model is loaded for " +
                                   std::to_string(rest) + "000 ms more")));
    EXPECT_NE(other.Open("in x f32 1\n"), 0u);
    hands.Turn(std::chrono::seconds(rest));
    EXPECT_NE(program.Open("in x f32 1\n"), 0u);
  }
}

TEST_F(Isolation, NoMoreWorkersThanTheHostWants) {
  const HostPtr host =
      EchoHost(log, "max_workers = 1\nworker = \"" + WorkerFile() + "\"\n[policy]\nload = \"isolated\"\n");
  Program other(host.get());
  {
    Program program(host.get());
    EXPECT_NE(program.Open("in x f32 1\n"), 0u);
    EXPECT_EQ(other.Open("in x f32 1\n"), 0u);
    EXPECT_THAT(log.lines(), Contains(HasSubstr("1 workers run already")));
  }
  EXPECT_NE(other.Open("in x f32 1\n"), 0u);
}

TEST_F(Isolation, ADeadlineEndsAWorkerThatCannotBeCancelled) {
  core::Clock::Hands hands;
  const HostPtr host = TurnedHost(hands, log, Settings("[limits]\ncompute_timeout_ms = 50\n"));
  Program program(host.get());
  const uint32_t context = program.Open("in x f32 1\ndeaf\ndelay 3600000\n");
  ASSERT_NE(context, 0u);
  auto compute = std::async(std::launch::async, [&] { return program.Infer(context, {1}); });
  EXPECT_TRUE(TurnUntilDone(hands, compute).empty());
  EXPECT_THAT(log.lines(), Contains(HasSubstr("compute: timeout")));
  EXPECT_THAT(log.lines(), Contains(HasSubstr("it did not stop in time")));
  EXPECT_EQ(program.Infer(program.Open("in x f32 1\n"), {3}), std::vector<float>({3}));
}

// One that looks is not lost, however long it takes.
TEST_F(Isolation, ADeadlineCancels) {
  core::Clock::Hands hands;
  const HostPtr host = TurnedHost(hands, log, Settings("[limits]\ncompute_timeout_ms = 50\n"));
  Program program(host.get());
  const uint32_t context = program.Open("in x f32 1\n"), slow = program.Open("in x f32 1\ndelay 3600000\n");
  auto compute = std::async(std::launch::async, [&] { return program.Infer(slow, {1}); });
  while (program.Stats().computes == 0) std::this_thread::yield();
  Turn(hands, host, std::chrono::milliseconds(50));
  EXPECT_TRUE(compute.get().empty());
  EXPECT_THAT(log.lines(), Contains(HasSubstr("compute: timeout")));
  EXPECT_EQ(program.Infer(context, {1}), std::vector<float>({1}));
}

TEST_F(Isolation, NothingIsLeft) {
  const HostPtr host = Host();
  {
    Program first(host.get());
  }
  size_t descriptors = 0;
  for (int i = 0; i < 4; ++i) {
    Program program(host.get());
    const uint32_t context = program.Open("in x f32 -1\nkeeps 1000\nload_keeps 2000\n");
    EXPECT_EQ(program.Infer(context, Numbers(5000)), Numbers(5000));
    EXPECT_GT(program.Stats().tensor_bytes, 1000u);
    EXPECT_GT(program.Stats().model_bytes, 2000u);
    wasinn_guest_close(program.guest.get());
    EXPECT_EQ(program.Stats().tensor_bytes, 0u);
    EXPECT_EQ(program.Stats().model_bytes, 0u);
    program.guest.reset();
    if (i <= 1) descriptors = CountDescriptors();  // from the second on with a spare
    EXPECT_EQ(CountDescriptors(), descriptors);
  }
}

void OpenAndClose(wasinn_host* host) {
  Program program(host);
  EXPECT_EQ(program.Infer(program.Open("in x f32 1\n"), {1}), std::vector<float>({1}));
}

TEST_F(Isolation, OneStandsReadyOnceThereWereTwo) {
  const HostPtr host = Host();
  OpenAndClose(host.get());
  EXPECT_THAT(KnownProcesses(), IsEmpty());
  OpenAndClose(host.get());
  const std::vector<pid_t> spare = KnownProcesses();
  ASSERT_THAT(spare, SizeIs(1));
  Program program(host.get());
  ASSERT_NE(program.Open("in x f32 1\n"), 0u);
  EXPECT_THAT(KnownProcesses(), Contains(spare[0]));
}

TEST_F(Isolation, ASpareThatWasKilledIsNotMissed) {
  const HostPtr host = Host();
  for (int i = 0; i < 2; ++i) OpenAndClose(host.get());
  for (int i = 0; i < 3; ++i) {
    const std::vector<pid_t> spare = KnownProcesses();
    ASSERT_THAT(spare, SizeIs(1));
    ASSERT_EQ(::kill(spare[0], SIGKILL), 0);  // it may still end as the next guest is about to take it
    OpenAndClose(host.get());
  }
}

TEST_F(Isolation, ChargesWhatTheBackendKeeps) {
  const HostPtr host = Host("[limits]\nmax_tensor_bytes = 10000\nmax_model_bytes = 10000\n");
  Program program(host.get());
  EXPECT_EQ(program.Open("in x f32 1\nload_keeps 20000\n"), 0u);
  uint32_t graph = 0, context = 0;
  ASSERT_EQ(program.LoadBytes(EchoModel("in x f32 1\nkeeps 6000\n"), kGgmlEncoding, graph), kSuccess);
  EXPECT_EQ(program.InitContext(graph, context), kSuccess);
  EXPECT_EQ(program.InitContext(graph, context), kTooLarge);
}

// A named model's worker has no limit of its own.
TEST_F(Isolation, ALimitThatIsReachedIsTheGuests) {
  const HostPtr host =
      EchoHost(log, "isolate_models = true\nworker = \"" + WorkerFile() + "\"\n[limits]\nmax_tensor_bytes = 10000\n");
  AddEchoModel(host.get(), "m", "in x f32 1\nkeeps 20000\n");
  Program program(host.get());
  uint32_t graph = 0, context = 0;
  ASSERT_EQ(program.LoadByName("m", graph), kSuccess);
  EXPECT_EQ(program.InitContext(graph, context), kTooLarge);
  EXPECT_THAT(log.lines(), Contains(HasSubstr("20000 bytes for a context, more than may still be held (limits.max_")));
}

TEST_F(Isolation, AForkedHostHasNoWorkers) {
  const HostPtr host = Host();
  Program program(host.get());
  const uint32_t context = program.Open("in x f32 1\n");
  EXPECT_EQ(program.Infer(context, {1}), std::vector<float>({1}));
  EXPECT_TRUE(IsTrueInAFork([&] { return program.Compute(context) == kRuntimeError; }));
  EXPECT_EQ(program.Infer(context, {2}), std::vector<float>({2}));
}

// On a machine of many processors more may compute at once than a worker serves.
TEST_F(Isolation, ComputesThatItsWorkerHasNoRoomForWait) {
  const HostPtr host = EchoHost(log, "max_computes = 64\nisolate_models = true\nworker = \"" + WorkerFile() + "\"\n");
  AddEchoModel(host.get(), "m", "in x f32 1\nturns 0\ndelay 3600000\n");
  Program program(host.get());
  uint32_t graph = 0;
  ASSERT_EQ(program.LoadByName("m", graph), kSuccess);
  std::vector<uint32_t> contexts(60);
  for (uint32_t& context : contexts) {
    ASSERT_EQ(program.InitContext(graph, context), kSuccess);
    ASSERT_EQ(program.Set(context, {1}), kSuccess);
  }
  std::atomic<size_t> ended = 0;
  std::vector<std::thread> threads;
  for (const uint32_t context : contexts) {
    threads.emplace_back([&, context] {
      (void)program.Compute(context);
      ++ended;
    });
  }
  const std::string waiting = R"(wasinn_model_inferences_waiting{model="m",version="1",backend="echo"})";
  while (ended == 0 && MetricsOf(host)[waiting] < 20) std::this_thread::yield();
  EXPECT_EQ(ended, 0u) << ::testing::PrintToString(log.lines());
  wasinn_guest_stop(program.guest.get());
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(log.lines(), ::testing::Each(::testing::Not(HasSubstr("unavailable"))));
}

// Two models in one worker, each of which may compute so often by itself.
class FullWorker : public Isolation, public ::testing::WithParamInterface<const char*> {};

TEST_P(FullWorker, LetsComputesAndStepsOfAllItsModelsWait) {
  const HostPtr host = EchoHost(log, "max_computes = 200\n" + Settings());
  Program program(NewGuest(host.get(), &wasinn_limits::compute_timeout_ms, 0));
  std::vector<uint32_t> contexts;
  for (const char* const delay : {"3600000", "3600001"}) {
    const std::string model = EchoModel(std::string("in x u8 -1\npieces 1\ndelay ") + delay + "\n");
    uint32_t graph = 0;
    ASSERT_EQ(program.LoadBytes(model, kGgmlEncoding, graph), kSuccess);
    for (int i = 0; i < 30; ++i) {
      ASSERT_EQ(program.InitContext(graph, contexts.emplace_back()), kSuccess);
      ASSERT_EQ(program.Set<uint8_t>(contexts.back(), {1, 2}), kSuccess);
    }
  }
  std::atomic<size_t> begun = 0, ended = 0;
  std::vector<std::jthread> threads;
  for (const uint32_t context : contexts) {
    threads.emplace_back([&, context] {
      ++begun;
      (void)program.Call(GetParam(), {context});
      ++ended;
    });
  }
  while (begun < contexts.size()) std::this_thread::yield();
  for (int i = 0; i < 30 && ended == 0; ++i)
    EXPECT_NE(program.Open("in x f32 1\n"), 0u) << "there is room for what is quick";
  EXPECT_EQ(ended, 0u);
  wasinn_guest_stop(program.guest.get());
  threads.clear();
  EXPECT_THAT(log.lines(), ::testing::Each(::testing::Not(HasSubstr("unavailable"))));
}

INSTANTIATE_TEST_SUITE_P(Calls, FullWorker, ::testing::Values("compute", "compute_single"),
                         [](const auto& call) { return call.index == 0 ? "Computes" : "Steps"; });

TEST_F(Isolation, WithoutTheProgram) {
  const HostPtr host = Host("", "/nowhere/wasinn-worker");
  Program program(host.get());
  EXPECT_EQ(program.Open("in x f32 1\n"), 0u);
  EXPECT_THAT(log.lines(), Contains(HasSubstr("cannot start /nowhere/wasinn-worker: No such file")));
}

}  // namespace
}  // namespace wasinn::testing
