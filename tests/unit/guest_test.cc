// Quotas, policy, deadlines, threads and the end of a guest.
#include "support/echo.h"
#include "support/gate.h"
#include "unit/turned_host.h"
#include "unit/wit_guest.h"

namespace wasinn::testing {
namespace {

TEST(Quotas, LimitGraphsAndContexts) {
  const LoggedHost host("[limits]\nmax_graphs = 3\nmax_contexts = 2\n");
  EchoProgram program(host.get());
  uint32_t graph = 0, context = 0;
  for (int i = 0; i < 5; ++i) {  // loads that fail cost nothing
    EXPECT_EQ(program.LoadBytes(EchoModel("fail_load 5\n"), kGgmlEncoding, graph), kRuntimeError);
    EXPECT_EQ(program.LoadByName("nobody", graph), kNotFound);
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(program.LoadBytes(EchoModel("in x f32 1\n"), kGgmlEncoding, graph), kSuccess);
  EXPECT_EQ(program.LoadBytes(EchoModel("in x f32 1\n"), kGgmlEncoding, context), kTooLarge);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(program.InitContext(graph, context), kSuccess);
  EXPECT_EQ(program.InitContext(graph, context), kTooLarge);
  EXPECT_EQ(program.Stats().graphs, 3u);
  EXPECT_EQ(program.Stats().contexts, 2u);
}

TEST(Quotas, BytesOfModelsAndTensors) {
  const LoggedHost host("[limits]\nmax_model_bytes = 100\nmax_tensor_bytes = 40\n");
  EchoProgram program(host.get());
  uint32_t graph = 0, context = 0;
  EXPECT_EQ(program.LoadBytes(EchoModel(std::string(200, '#')), kGgmlEncoding, graph), kTooLarge);
  ASSERT_EQ(program.LoadBytes(EchoModel("in x f32 -1\n"), kGgmlEncoding, graph), kSuccess);
  ASSERT_EQ(program.InitContext(graph, context), kSuccess);
  EXPECT_EQ(program.Set(context, std::vector<float>(11)), kTooLarge);
  EXPECT_EQ(program.Set(context, std::vector<float>(5)), kSuccess);
  EXPECT_EQ(program.Compute(context), kSuccess);  // 20 bytes of output, too
  EXPECT_EQ(program.Stats().tensor_bytes, 40u);
  EXPECT_EQ(program.Set(context, std::vector<float>(6)), kTooLarge);
  uint32_t second = 0;
  EXPECT_EQ(program.InitContext(graph, second), kSuccess);
  EXPECT_EQ(program.Set(second, std::vector<float>(1)), kTooLarge);
}

TEST(Quotas, AnInputWithoutElementsIsNoLargerAlongItsOtherDimensions) {
  const LoggedHost host("[limits]\nmax_tensor_bytes = 40\n");
  EchoProgram program(host.get());
  uint32_t graph = 0, context = 0;
  ASSERT_EQ(program.LoadBytes(EchoModel("in x f32 -1,-1\n"), kGgmlEncoding, graph), kSuccess);
  ASSERT_EQ(program.InitContext(graph, context), kSuccess);
  const std::vector<float> nothing;
  EXPECT_EQ(program.SetInput(context, 0, {10, 0}, kF32, nothing), kSuccess);
  EXPECT_EQ(program.SetInput(context, 0, {11, 0}, kF32, nothing), kTooLarge);
  EXPECT_EQ(program.SetInput(context, 0, {0, UINT32_MAX}, kF32, nothing), kTooLarge);
  EXPECT_TRUE(host.log.Contains("f32 [0, 4294967295] has no element, but its other dimensions exceed the limit of 40"));
  EXPECT_EQ(program.SetInput(context, 0, {0, 0}, kF32, nothing), kSuccess);
}

TEST(Quotas, NamesOfOutputsThatAreOnlyKnownAfterACompute) {
  const LoggedHost host("limits.max_tensor_bytes = 90000\n");
  AddEchoModel(host.get(), "short", "in x f32 1\nlate\n");
  AddEchoModel(host.get(), "long", "in " + std::string(100'000, 'n') + " f32 1\nlate\n");
  EchoProgram program(host.get());
  for (const char* name : {"short", "long"}) {
    const uint32_t context = program.NewContext(name);
    ASSERT_EQ(program.Set(context, std::vector<float>(1)), kSuccess);
    EXPECT_EQ(program.Compute(context), *name == 's' ? kSuccess : kTooLarge) << name;
  }
}

TEST(Quotas, BytesOfAllGuestsTogether) {
  const LoggedHost host("max_total_bytes = 100\n");
  const std::string model = EchoModel("in x f32 -1\n" + std::string(30, '#') + "\n");
  uint32_t graph = 0, context = 0;
  {
    EchoProgram program(host.get()), other(host.get());
    ASSERT_EQ(program.LoadBytes(model, kGgmlEncoding, graph), kSuccess);
    uint32_t others = 0;
    EXPECT_EQ(other.LoadBytes(model + std::string(40, '#'), kGgmlEncoding, others), kTooLarge);
    EXPECT_TRUE(host.log.Contains("bytes of models would exceed the limit of 100 for all guests (max_total_bytes)"));
    EXPECT_FALSE(host.log.Contains("held")) << "what others have is not for this one to know";
    ASSERT_EQ(program.InitContext(graph, context), kSuccess);
    EXPECT_EQ(program.Set(context, std::vector<float>(20)), kTooLarge) << "tensors, too";
    EXPECT_EQ(program.Set(context, std::vector<float>(5)), kSuccess);
  }
  EchoProgram later(host.get());
  EXPECT_EQ(later.LoadBytes(model + std::string(40, '#'), kGgmlEncoding, graph), kSuccess) << "all was given back";
}

TEST(Logs, AreLimitedInRateForAllGuestsTogether) {
  Log log;
  core::Clock::Hands hands;
  const HostPtr host = TurnedHost(hands, log, "log.max_guest_lines = 3\n");
  const auto fail = [&] {
    uint32_t graph = 0;
    for (int i = 0; i < 10; ++i) EXPECT_NE(EchoProgram(host.get()).LoadByName("nothing", graph), kSuccess);
    return log.lines().size();
  };
  EXPECT_EQ(fail(), 3u);
  hands.Turn(std::chrono::seconds(1));
  EXPECT_EQ(fail(), 7u) << "and how many were left out";
}

TEST(Quotas, AGuestPaysForWhatABackendKeepsForItsContext) {
  const LoggedHost host("[limits]\nmax_tensor_bytes = 100\n");
  AddEchoModel(host.get(), "m", "in x u8 10\nkeeps 30\n");
  EchoProgram program(host.get()), other(host.get());
  uint32_t graph = 0, first = 0, second = 0, third = 0;
  ASSERT_EQ(program.LoadByName("m", graph), kSuccess);
  ASSERT_EQ(program.InitContext(graph, first), kSuccess);
  EXPECT_EQ(program.Stats().tensor_bytes, 40u) << "with ten bytes of output";
  ASSERT_EQ(program.InitContext(graph, second), kSuccess);
  EXPECT_EQ(program.InitContext(graph, third), kTooLarge);
  EXPECT_TRUE(host.log.Contains("30 bytes to keep")) << "the output would have fitted";
  EXPECT_EQ(program.Stats().tensor_bytes, 80u);
  EXPECT_NE(other.NewContext("m"), 0u) << "it is not the host's";
  EXPECT_EQ(program.Finalize(first), kSuccess);
  EXPECT_EQ(program.Stats().tensor_bytes, 40u);
  EXPECT_EQ(program.InitContext(graph, third), kSuccess);
}

TEST(Quotas, AGuestPaysForWhatABackendKeepsForTheModelItBrought) {
  const LoggedHost host("[limits]\nmax_model_bytes = 100\n");
  AddEchoModel(host.get(), "m", "in x u8 10\nload_keeps 1000\n");
  EchoProgram program(host.get());
  uint32_t graph = 0;
  EXPECT_EQ(program.LoadByName("m", graph), kSuccess) << "all guests share it";
  EXPECT_EQ(program.Stats().model_bytes, 0u);
  const std::string model = EchoModel("in x u8 10\nload_keeps 40\n");
  ASSERT_EQ(program.LoadBytes(model, kGgmlEncoding, graph), kSuccess);
  EXPECT_EQ(program.Stats().model_bytes, 40 + model.size());
  EXPECT_EQ(program.LoadBytes(EchoModel("in x u8 10\nload_keeps 60\n"), kGgmlEncoding, graph), kTooLarge);
  EXPECT_EQ(program.Stats().model_bytes, 40 + model.size()) << "a failed load keeps nothing";
  EXPECT_EQ(program.LoadWithConfig("m", R"({"shade": "red"})", graph), kTooLarge) << "a compile for this guest";
}

TEST(Quotas, AnOutputOfFourGigabytesInTheSignatureIsRefusedBeforeItIsMade) {
  const LoggedHost host;
  EchoProgram program(host.get());
  for (const char* model : {"in x f32 1073741824\n", "in x f32 9223372036854775807,9223372036854775807\n"}) {
    uint32_t graph = 0, context = 0;
    ASSERT_EQ(program.LoadBytes(EchoModel(model), kGgmlEncoding, graph), kSuccess);
    EXPECT_EQ(program.InitContext(graph, context), kTooLarge);
  }
}

TEST(Policy, LoadCanBeDenied) {
  const LoggedHost host("[policy]\nload = \"deny\"\n");
  AddEchoModel(host.get(), "m", "in x f32 1\n");
  EchoProgram program(host.get());
  uint32_t graph = 0;
  EXPECT_EQ(program.LoadBytes(EchoModel(""), kGgmlEncoding, graph), kUnsupportedOperation);
  EXPECT_TRUE(host.log.Contains("policy.load"));
  EXPECT_EQ(program.LoadByName("m", graph), kSuccess);
}

TEST(Policy, NamesEncodingsAndTargetsCanBeListed) {
  const LoggedHost host("[policy]\nmodels = ['a']\nencodings = ['onnx']\ntargets = ['cpu']\n");
  AddEchoModel(host.get(), "a", "in x f32 1\n");
  AddEchoModel(host.get(), "b", "in x f32 1\n");
  EchoProgram program(host.get());
  uint32_t graph = 0;
  EXPECT_EQ(program.LoadByName("a", graph), kSuccess);
  EXPECT_EQ(program.LoadByName("b", graph), kUnsupportedOperation);
  EXPECT_EQ(program.LoadBytes(EchoModel(""), kGgmlEncoding, graph), kUnsupportedOperation)
      << "recognised, then refused";
  EXPECT_TRUE(host.log.Contains("does not allow encoding ggml"));
  const uint32_t out = program.Reserve(4);
  EXPECT_EQ(program.Call("load", {program.PutAll(std::vector<uint32_t>{0, 4}), 1, 5, 1, out}), kUnsupportedOperation);
  EXPECT_TRUE(host.log.Contains("does not allow target gpu"));
}

TEST(Policy, ANameAllowsAllItsVersionsAndAVersionOnlyItself) {
  const LoggedHost host("[policy]\nmodels = ['a', 'b:1']\n");
  for (const char* name : {"a", "b", "ab"}) AddEchoModel(host.get(), name, "in x f32 1\n");
  EchoProgram program(host.get());
  uint32_t graph = 0;
  for (const char* name : {"a", "a:1", "b:1"}) EXPECT_EQ(program.LoadByName(name, graph), kSuccess) << name;
  for (const char* name : {"b", "b:2", "ab:1", "a:1:1", "a:x", "a:", ":1", "c:1"}) {
    EXPECT_EQ(program.LoadByName(name, graph), kUnsupportedOperation) << name;
  }
  EXPECT_EQ(program.LoadByName("a:2", graph), kNotFound) << "allowed, but missing";
}

TEST(Policy, AGuestMayHaveItsOwnLimitsAndPolicy) {
  const LoggedHost host;
  wasinn_limits limits{.struct_size = sizeof(limits)};
  ASSERT_EQ(wasinn_host_limits(host.get(), &limits), nullptr);
  limits.max_graphs = 1;
  wasinn_policy policy{.struct_size = sizeof(policy)};
  ASSERT_EQ(wasinn_host_policy(host.get(), &policy), nullptr);
  EXPECT_EQ(policy.load, WASINN_LOAD_IN_PROCESS);
  const wasinn_guest_options options{
      .struct_size = sizeof(options), .name = "tenant-7", .limits = &limits, .policy = &policy};
  EchoProgram program(NewGuest(host.get(), &options));
  uint32_t graph = 0;
  EXPECT_EQ(program.LoadBytes(EchoModel(""), kGgmlEncoding, graph), kSuccess);
  EXPECT_EQ(program.LoadBytes(EchoModel(""), kGgmlEncoding, graph), kTooLarge);
  EXPECT_TRUE(host.log.Contains("guest 'tenant-7': load: too_large"));
}

TEST(Policy, FallingBackToTheCpuIsUpToTheHost) {
  for (const bool fallback : {false, true}) {
    Log log;
    const HostPtr host = EchoHost(log, fallback ? "policy.cpu_fallback = true\n" : "");
    EchoProgram program(host.get());
    const std::string model = EchoModel("");
    const uint32_t builders = program.PutAll(std::vector<uint32_t>{program.Put(model), 5});
    EXPECT_EQ(program.Call("load", {builders, 1, 5, 1, program.Reserve(4)}),
              fallback ? kSuccess : kUnsupportedOperation);
  }
}

TEST(Policy, TheHostsPolicyDecidesOnTheFallbackOfItsModelsAndTheGuestsOnThatOfAChosenDevice) {
  for (const bool of_host : {false, true}) {
    for (const bool of_guest : {false, true}) {
      Log log;
      const HostPtr host = EchoHost(log, of_host ? "policy.cpu_fallback = true\n" : "");
      AddEchoModel(host.get(), "cpu", "");
      ASSERT_EQ(AddEchoModel(host.get(), "gpu", "", {.encoding = "ggml", .target = WASINN_TARGET_GPU}), nullptr);
      EchoProgram program(NewGuest(host.get(), [&](wasinn_policy& policy) { policy.cpu_fallback = of_guest; }));
      uint32_t graph = 0;
      EXPECT_EQ(program.LoadWithConfig("cpu", R"({"device": "gpu"})", graph),
                of_guest ? kSuccess : kUnsupportedOperation);
      EXPECT_EQ(program.LoadByName("gpu", graph), of_host ? kSuccess : kUnsupportedOperation);
    }
  }
}

TEST(Deadlines, AnEndlessComputeEnds) {
  Log log;
  core::Clock::Hands hands;
  const HostPtr host = TurnedHost(hands, log, "[limits]\ncompute_timeout_ms = 50\n");
  AddEchoModel(host.get(), "m", "in x u8 1\nendless 9\n");
  EchoProgram program(host.get());
  const uint32_t endless = program.NewContext("m"), quick = program.NewContext("m");
  ASSERT_EQ(program.Set<uint8_t>(endless, {9}), kSuccess);
  ASSERT_EQ(program.Set<uint8_t>(quick, {1}), kSuccess);
  for (int i = 0; i < 2; ++i) {  // the context stays usable
    auto compute = std::async(std::launch::async, [&] { return program.Compute(endless); });
    EXPECT_EQ(TurnUntilDone(hands, compute), kRuntimeError);
    EXPECT_TRUE(log.Contains("the compute was stopped after 50 ms: compute cancelled")) << "with the backend's words";
    EXPECT_EQ(program.Compute(quick), kSuccess);
  }
}

// A backend's cancel takes long, though it must not: the guest's other calls go on.
TEST(Stop, HoldsNoLockWhileABackendCancels) {
  const Gate gate;
  const LoggedHost host("limits.compute_timeout_ms = 0\n");
  AddEchoModel(host.get(), "m", "in x u8 1\nendless 9\n" + gate.Cancel());
  EchoProgram program(host.get());
  const uint32_t endless = program.NewContext("m");
  ASSERT_EQ(program.Set<uint8_t>(endless, {9}), kSuccess);
  auto compute = std::async(std::launch::async, [&] { return program.Compute(endless); });
  while (program.Stats().computes == 0) std::this_thread::yield();
  auto stop = std::async(std::launch::async, [&] { wasinn_guest_stop(program.guest.get()); });
  gate.Await();
  auto stats = std::async(std::launch::async, [&] { return program.Stats().contexts; });
  EXPECT_EQ(stats.wait_for(kPatience), std::future_status::ready) << "it asks each context";
  EXPECT_EQ(stop.wait_for(kPatience), std::future_status::ready);
  gate.Open();
  EXPECT_EQ(stats.get(), 1u);
  EXPECT_EQ(compute.get(), kRuntimeError);
}

TEST(Deadlines, AnEndlessLoadEnds) {
  Log log;
  core::Clock::Hands hands;
  const HostPtr host = TurnedHost(hands, log, "[limits]\nload_timeout_ms = 50\n");
  EchoProgram program(host.get());
  uint32_t graph = 0;
  const Gate gate;
  auto load =
      std::async(std::launch::async, [&] { return program.LoadBytes(EchoModel(gate.Load()), kGgmlEncoding, graph); });
  EXPECT_EQ(TurnUntilDone(hands, load), kRuntimeError);
  EXPECT_TRUE(log.Contains("timeout: echo: the load was stopped after 50 ms"));
  EXPECT_EQ(program.LoadBytes(EchoModel(""), kGgmlEncoding, graph), kSuccess);
}

TEST(Threads, AContextInUseIsBusyForOthers) {
  const LoggedHost host;
  const Gate gate;
  AddEchoModel(host.get(), "slow", "in x f32 1\n" + gate.Compute());
  EchoProgram program(host.get());
  const uint32_t context = program.NewContext("slow");
  ASSERT_EQ(program.Set(context, {1}), kSuccess);
  const uint32_t out = program.Reserve(8), tensor = program.PutTensor({1}, kF32, out, 4);
  std::thread computing([&] { EXPECT_EQ(program.Compute(context), kSuccess); });
  gate.Await();
  EXPECT_EQ(program.Call("set_input", {context, 0, tensor}), kBusy);
  EXPECT_EQ(program.Compute(context), kBusy);
  EXPECT_EQ(program.Call("get_output", {context, 0, out, 4, out + 4}), kBusy);
  WitGuest component(program.guest.get());
  const Outcome refused = component.Compute(context, {{"x", component.Floats({1}, {2}).rep}});
  EXPECT_EQ(refused.error, kWitRuntimeError) << "WIT has no word for it";
  EXPECT_THAT(refused.message, ::testing::HasSubstr("another thread is using this context"));
  gate.Open();
  computing.join();
  EXPECT_EQ(program.Call("set_input", {context, 0, tensor}), kSuccess);
}

// Whatever threads do with shared and own contexts, nothing is lost or mixed.
TEST(Threads, StressOnSharedAndOwnContexts) {
  const LoggedHost host("[limits]\nmax_log_messages = 0\n");
  AddEchoModel(host.get(), "m", "in x i32 1\n");
  EchoProgram setup(host.get());
  const uint32_t shared = setup.NewContext("m");
  std::atomic<uint64_t> busy{0}, done{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      FakeGuest calls(setup.guest.get());  // memory of its own, so that the test itself has no race
      const uint32_t own = calls.NewContext("m"), data = calls.Reserve(4), out = calls.Reserve(4),
                     written = calls.Reserve(4);
      const uint32_t tensor = calls.PutTensor({1}, kI32, data, 4);
      for (int i = 0; i < 2000; ++i) {
        const int32_t value = t * 10000 + i;
        std::memcpy(calls.memory().data() + data, &value, 4);
        ASSERT_EQ(calls.Call("set_input", {own, 0, tensor}), kSuccess);
        ASSERT_EQ(calls.Compute(own), kSuccess);
        ASSERT_EQ(calls.Call("get_output", {own, 0, out, 4, written}), kSuccess);
        ASSERT_EQ(calls.Read<int32_t>(out), value);
        for (const uint32_t error : {calls.Call("set_input", {shared, 0, tensor}), calls.Compute(shared)}) {
          if (error == kBusy) ++busy;
          if (error == kSuccess) ++done;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(done, 0u);
  // The one other error is a compute before anything was set on the shared context.
  EXPECT_GE(setup.Stats().errors, busy.load());
  EXPECT_EQ(done + setup.Stats().errors, 4u * 2000 * 2);
}

TEST(Close, CancelsWhatRunsAndRefusesWhatComes) {
  const LoggedHost host;
  const Gate gate;
  AddEchoModel(host.get(), "endless", "in x f32 1\n" + gate.Compute());
  EchoProgram program(host.get());
  const uint32_t context = program.NewContext("endless");
  ASSERT_EQ(program.Set(context, {1}), kSuccess);
  std::thread computing([&] { EXPECT_EQ(program.Compute(context), kRuntimeError); });
  gate.Await();
  wasinn_guest_close(program.guest.get());
  computing.join();
  EXPECT_EQ(program.Compute(context), kRuntimeError);
  EXPECT_EQ(program.Stats().contexts, 0u);
  EXPECT_EQ(program.Stats().graphs, 0u);
  EXPECT_EQ(program.Stats().tensor_bytes, 0u);
  wasinn_guest_close(program.guest.get());  // again: nothing happens
}

TEST(Close, CancelsALoad) {
  const LoggedHost host;
  EchoProgram program(host.get());
  const Gate gate;
  std::thread loading([&] {
    uint32_t graph = 0;
    EXPECT_EQ(program.LoadBytes(EchoModel(gate.Load()), kGgmlEncoding, graph), kRuntimeError);
  });
  gate.Await();
  wasinn_guest_close(program.guest.get());
  loading.join();
}

}  // namespace
}  // namespace wasinn::testing
