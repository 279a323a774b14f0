// Pipelines: models that one compute computes, one after the other.
#include "api/objects.h"
#include "core/host/host.h"
#include "core/inference/session.h"
#include "support/gate.h"
#include "unit/no_memory.h"
#include "unit/pipeline_host.h"
#include "unit/turned_host.h"

namespace wasinn::testing {
namespace {

using Pipelines = PipelineTest;

// As many copies as of one model, for any owner of the outputs' memory.
TEST_F(Pipelines, ComputeTheirStepsWithoutACopyBetween) {
  for (const std::string more : {"", "bindable"}) {
    Model("m" + more, "in x u8 4 " + more + "\n");
    Pipeline("p" + more, "{model_name = 'm" + more + "', input_map = {x = 'a'}}, {model_name = 'm" + more +
                             "'}, {model_name = 'm" + more + "'}");
  }
  const HostPtr host = Host();
  for (const char* name : {"p", "pbindable"}) {
    BytesGuest guest(host.get());
    const uint32_t context = guest.NewContext(name);
    for (uint8_t i = 1; i < 4; ++i) {
      ASSERT_EQ(guest.Compute(context, {i, 2, 3, 4}), kSuccess) << guest.LastError();
      EXPECT_THAT(guest.Output(context), ElementsAre(i, 2, 3, 4));
      const wasinn_statistics stats = guest.Stats();
      EXPECT_EQ(stats.copies_in, i);
      EXPECT_EQ(stats.copies_out, i);
      EXPECT_EQ(stats.bytes_in + stats.bytes_out, 8u * i);
      EXPECT_EQ(stats.computes, i);
    }
  }
}

// One step takes what several made, and what a guest gave.
TEST_F(Pipelines, GoByTheirMaps) {
  Model("two", "in a u8 2\nin b u8 2\n");
  Pipeline("p",
           "{model_name = 'two', input_map = {a = 'left', b = 'right'}, output_map = {a = 'm', b = 'n'}},"
           "{model_name = 'two', input_map = {a = 'n', b = 'left'}, output_map = {a = 'first', b = 'second'}}",
           "inputs = ['right', 'left']\noutputs = ['second', 'm', 'first']\n");
  const HostPtr host = Host();
  BytesGuest guest(host.get());
  const uint32_t context = guest.NewContext("p");
  const uint32_t left = guest.wit.Tensor({2}, kWitU8, {1, 2}).rep, right = guest.wit.Tensor({2}, kWitU8, {3, 4}).rep;
  const uint32_t wit = guest.wit.ContextOf("p");
  const Outcome done = guest.wit.Compute(wit, {{"left", left}, {"right", right}});
  ASSERT_TRUE(done.ok()) << done;
  ASSERT_EQ(done.outputs.size(), 3u);
  EXPECT_EQ(done.outputs[0].first, "second");
  EXPECT_THAT(guest.wit.Data(done.outputs[0].second), ElementsAre(1, 2));
  EXPECT_THAT(guest.wit.Data(done.outputs[1].second), ElementsAre(1, 2)) << "m, which step 2 does not take";
  EXPECT_THAT(guest.wit.Data(done.outputs[2].second), ElementsAre(3, 4));
  // By index: the right one first.
  ASSERT_EQ(guest.Set(context, {5, 6}), kSuccess);
  EXPECT_EQ(guest.Compute(context), kInvalidArgument);
  EXPECT_THAT(guest.LastError(), HasSubstr("input 1 ('left') was not set"));
  ASSERT_EQ(guest.Set(context, {7, 8}, 1), kSuccess);
  ASSERT_EQ(guest.Compute(context), kSuccess);
  EXPECT_THAT(guest.Output(context), ElementsAre(7, 8));
}

// Names do not matter if a step has one input, and the one before it one output.
TEST_F(Pipelines, NeedNoMapsBetweenNeighbours) {
  Model("m", "in x u8 4\n");
  Pipeline("p", "{model_name = 'm', input_map = {x = 'in'}}, {model_name = 'm'}, {model_name = 'm'}");
  const HostPtr host = Host();
  BytesGuest guest(host.get());
  const uint32_t context = guest.NewContext("p");
  ASSERT_EQ(guest.Compute(context, {1, 2, 3, 4}), kSuccess) << guest.LastError();
  EXPECT_THAT(guest.Output(context), ElementsAre(1, 2, 3, 4));
}

TEST_F(Pipelines, MayBeStepsOfOthers) {
  Model("m", "in x u8 4\n");
  Pipeline("inner", "{model_name = 'm', input_map = {x = 'i'}}, {model_name = 'm', output_map = {x = 'o'}}");
  Pipeline("outer",
           "{model_name = 'inner', output_map = {o = 'between'}},"
           "{model_name = 'inner', input_map = {i = 'between'}}");
  const HostPtr host = Host();
  BytesGuest guest(host.get());
  const uint32_t context = guest.NewContext("outer");
  ASSERT_EQ(guest.Compute(context, {1, 2, 3, 4}), kSuccess) << guest.LastError();
  EXPECT_THAT(guest.Output(context), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(guest.Stats().copies_in + guest.Stats().copies_out, 2u) << "nothing is copied between the pipelines";
}

TEST_F(Pipelines, PassShapesOnThatOnlyAComputeShows) {
  Model("late", "in x u8 -1\nlate\n");
  Model("open", "in x u8 -1\n");
  Pipeline("p",
           "{model_name = 'late', input_map = {x = 'i'}, output_map = {x = 'm'}},"
           "{model_name = 'open', input_map = {x = 'm'}, output_map = {x = 'n'}},"
           "{model_name = 'late', input_map = {x = 'n'}, output_map = {x = 'o'}}");
  const HostPtr host = Host();
  BytesGuest guest(host.get());
  const uint32_t context = guest.NewContext("p");
  for (const std::vector<uint8_t>& bytes : {std::vector<uint8_t>{1, 2, 3}, {4}, {5, 6, 7, 8, 9}}) {
    ASSERT_EQ(guest.Compute(context, bytes), kSuccess) << guest.LastError();
    EXPECT_EQ(guest.Output(context), bytes);
  }
}

TEST_F(Pipelines, CheckShapesThatOnlyAComputeShows) {
  Model("open", "in x u8 -1\n");
  Model("four", "in x u8 4\n");
  Pipeline("p", "{model_name = 'open', input_map = {x = 'i'}}, {model_name = 'four'}");
  const HostPtr host = Host();
  BytesGuest guest(host.get());
  const uint32_t context = guest.NewContext("p");
  EXPECT_EQ(guest.Compute(context, {1, 2, 3}), kInvalidArgument);
  EXPECT_THAT(guest.LastError(), HasSubstr("step 2 ('four'): input 'x' takes u8 [4], given u8 [3]"));
  EXPECT_EQ(guest.Compute(context, {1, 2, 3, 4}), kSuccess);
}

TEST_F(Pipelines, LeaveOptionalInputsUnset) {
  Model("m", "in x u8 4\nin y u8 2 optional\n");
  Pipeline("p", "{model_name = 'm', input_map = {x = 'i', y = 'j'}, output_map = {x = 'o'}}");
  const HostPtr host = Host();
  BytesGuest guest(host.get());
  const uint32_t context = guest.NewContext("p");
  ASSERT_EQ(guest.Compute(context, {1, 2, 3, 4}), kSuccess) << guest.LastError();
  EXPECT_THAT(guest.Output(context), ElementsAre(1, 2, 3, 4));
}

TEST_F(Pipelines, NameTheStepThatFails) {
  Chain("p", {"", "fail 7\n", ""});
  const HostPtr host = Host();
  BytesGuest guest(host.get());
  const uint32_t context = guest.NewContext("p");
  EXPECT_EQ(guest.Compute(context, {1, 2, 3, 4}), kTooLarge);
  EXPECT_THAT(guest.LastError(), HasSubstr("pipeline: step 2 ('m2'): echo: "));
  const uint32_t buffer = guest.Reserve(8);
  EXPECT_EQ(guest.Call("get_output", {context, 0, buffer, 4, buffer + 4}), kInvalidArgument);
}

TEST_F(Pipelines, NameTheStepThatADeadlineEnds) {
  const Gate gate;
  Chain("p", {"", gate.Compute()});
  core::Clock::Hands hands;
  const HostPtr host = TurnedHost(hands, log_, Settings("[limits]\ncompute_timeout_ms = 50\n"));
  BytesGuest guest(host.get());
  const uint32_t context = guest.NewContext("p");
  ASSERT_EQ(guest.Set(context, {1, 2, 3, 4}), kSuccess);
  for (int i = 0; i < 2; ++i) {  // and it is not stopped before it has begun the next time
    std::future<uint32_t> done = std::async(std::launch::async, [&] { return guest.Compute(context); });
    gate.Await();
    EXPECT_EQ(TurnUntilDone(hands, done), kRuntimeError);
    EXPECT_THAT(guest.LastError(), HasSubstr("the compute was stopped after 50 ms: it had reached step 2 ('m2')"));
    gate.Close();
  }
}

TEST_F(Pipelines, EndWithTheirContext) {
  const Gate gate;
  Chain("p", {"", gate.Compute(), ""});
  const HostPtr host = Host();
  BytesGuest guest(host.get());
  const uint32_t context = guest.NewContext("p");
  ASSERT_EQ(guest.Set(context, {1, 2, 3, 4}), kSuccess);
  std::future<uint32_t> done = std::async(std::launch::async, [&] { return guest.Compute(context); });
  gate.Await();
  FakeGuest other(guest.guest.get());
  EXPECT_EQ(other.Finalize(context), kSuccess);
  EXPECT_EQ(done.get(), kRuntimeError);
}

// Each step takes its turn and gives it back: what waits behind a step's own limit keeps no place of the host's.
TEST_F(Pipelines, HoldNoTurnBetweenSteps) {
  const Gate gate;
  Model("first", "in x u8 4\nturns 0\n");
  Model("second", "in x u8 4\nturns 0\n" + gate.Compute());
  Pipeline("p", "{model_name = 'first', input_map = {x = 'i'}}, {model_name = 'second'}");
  const HostPtr host = Host("max_computes = 1\n");
  BytesGuest guest(host.get()), other(host.get());
  const uint32_t context = guest.NewContext("p"), beside = other.NewContext("first");
  ASSERT_EQ(guest.Set(context, {1, 2, 3, 4}), kSuccess);
  std::future<uint32_t> done = std::async(std::launch::async, [&] { return guest.Compute(context); });
  gate.Await();
  ASSERT_EQ(other.Set(beside, {1, 2, 3, 4}), kSuccess);
  std::future<uint32_t> waits = std::async(std::launch::async, [&] { return other.Compute(beside); });
  gate.Open();
  EXPECT_EQ(done.get(), kSuccess);
  EXPECT_EQ(waits.get(), kSuccess);
}

TEST_F(Pipelines, ChargeTensorsBetweenStepsToTheGuest) {
  Model("small", "in x u8 -1\n");
  Model("grows", "in x u8 -1\noutgrows 3000\n");
  Pipeline("p", "{model_name = 'grows', input_map = {x = 'i'}}, {model_name = 'small'}");
  const HostPtr host = Host("[limits]\nmax_tensor_bytes = 7000\n");
  BytesGuest guest(host.get());
  const uint32_t context = guest.NewContext("p");
  ASSERT_EQ(guest.Compute(context, {1, 2, 3, 4}), kSuccess) << guest.LastError();
  EXPECT_EQ(guest.held(), 3004u) << "4 of the input and the output, not what lay between";
  BytesGuest poor(NewGuest(host.get(), &wasinn_limits::max_tensor_bytes, 2999));
  const uint32_t refused = poor.NewContext("p");
  EXPECT_EQ(poor.Compute(refused, {1, 2, 3, 4}), kTooLarge);
  EXPECT_THAT(poor.LastError(), HasSubstr("step 1 ('grows'): "));
  EXPECT_EQ(poor.held(), 4u);
  EXPECT_EQ(poor.Finalize(refused), kSuccess);
  EXPECT_EQ(poor.held(), 0u);
}

// A taken output outlives its context, and counts once.
TEST_F(Pipelines, GiveTheirOutputsAway) {
  Chain("p", {"", ""});
  const HostPtr host = Host();
  BytesGuest guest(host.get());
  const uint32_t context = guest.wit.ContextOf("p");
  const uint32_t input = guest.wit.Tensor({4}, kWitU8, {1, 2, 3, 4}).rep;
  const uint64_t before = guest.held();
  const Outcome done = guest.wit.Compute(context, {{"t0", input}});
  ASSERT_TRUE(done.ok()) << done;
  EXPECT_EQ(guest.held(), before) << "the input went, the output came";
  EXPECT_EQ(guest.Stats().copies_in + guest.Stats().copies_out, 1u) << "that of the tensor";
  EXPECT_EQ(guest.wit.DropContext(context), "");
  EXPECT_THAT(guest.wit.Data(done.outputs[0].second), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(guest.wit.DropTensor(done.outputs[0].second), "");
  EXPECT_EQ(guest.held(), 0u);
}

TEST_F(Pipelines, ReadTheirOwnOutputsInPlaceIfTheyAreInputsAgain) {
  Chain("p", {"", ""});
  const HostPtr host = Host();
  BytesGuest guest(host.get());
  const uint32_t context = guest.wit.ContextOf("p");
  const Outcome first = guest.wit.Compute(context, {{"t0", guest.wit.Tensor({4}, kWitU8, {1, 2, 3, 4}).rep}});
  ASSERT_TRUE(first.ok()) << first;
  const uint64_t before = guest.Stats().copies_in;
  const Outcome second = guest.wit.Compute(context, {{"t0", first.outputs[0].second}});
  ASSERT_TRUE(second.ok()) << second;
  EXPECT_EQ(guest.Stats().copies_in, before);
  EXPECT_THAT(guest.wit.Data(second.outputs[0].second), ElementsAre(1, 2, 3, 4));
}

// A worker's memory is only its own: outputs from there are copied.
TEST_F(Pipelines, CopyTheOutputsOfWorkers) {
  Model("here", "in x u8 4\n");
  Model("apart", "in x u8 4\n", "isolate = true\n");
  Pipeline("p", "{model_name = 'apart', input_map = {x = 'i'}}, {model_name = 'here'}");
  const HostPtr host = Host();
  BytesGuest guest(host.get());
  const uint32_t context = guest.NewContext("p");
  ASSERT_EQ(guest.Compute(context, {1, 2, 3, 4}), kSuccess) << guest.LastError();
  EXPECT_THAT(guest.Output(context), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(guest.Stats().copies_out, 2u);
  EXPECT_EQ(guest.Stats().copies_in, 1u);
}

// The next load of the pipeline finds another worker.
TEST_F(Pipelines, AreLoadedAgainWhenAWorkerIsLost) {
  Model("here", "in x u8 4\n");
  Model("apart", "in x u8 4\ndies compute\n", "isolate = true\n");
  Pipeline("p", "{model_name = 'here', input_map = {x = 'i'}}, {model_name = 'apart'}");
  const HostPtr host = Host();
  BytesGuest guest(host.get());
  for (int i = 0; i < 2; ++i) {
    const uint32_t context = guest.NewContext("p");
    EXPECT_EQ(guest.Compute(context, {1, 2, 3, 4}), kRuntimeError);
    EXPECT_THAT(guest.LastError(), HasSubstr("pipeline: step 2 ('apart'): echo: the model's worker is gone"));
    EXPECT_EQ(guest.Compute(context), kRuntimeError);
  }
}

// The cancel function of a slot's creation is removed before the slot.
TEST_F(Pipelines, WithoutMemoryNothingIsLeftThatCouldBeCancelled) {
  Chain("p", {"", ""});
  const HostPtr host = Host();
  core::Host& core = *host->host;
  const auto graph = core.LoadNamed("p");
  ASSERT_TRUE(graph.has_value());
  ASSERT_TRUE(core.watchdog().Start().ok());
  core::Quota quota("bytes", "a limit", UINT64_MAX);
  core::Share share;
  const core::Resources resources{
      .memory = {quota, core.buffers(), 1}, .watchdog = core.watchdog(), .scheduler = core.scheduler(), .share = share};
  int failures = 0;
  for (bool is_made = false; !is_made; ++failures) {
    void (*registered)(void*) = nullptr;
    const wasinn_slot_options options{
        .struct_size = sizeof(wasinn_slot_options),
        .max_bytes = 0,
        .guest_config = "{}",
        .account = nullptr,
        .token = &registered,
        .on_cancel = [](void* token, void (*cancel)(void*), void*) { *static_cast<void (**)(void*)>(token) = cancel; }};
    try {
      const NoMemory scarce(failures);
      is_made = (*graph)->NewSession(*graph, options, 1, resources).has_value();
    } catch (const std::bad_alloc&) {
      is_made = false;
    }
    EXPECT_EQ(registered, nullptr) << failures;
  }
  EXPECT_GT(failures, 5);
}

TEST_F(Pipelines, AreDescribed) {
  Chain("p", {"", ""});
  const HostPtr host = Host();
  BytesGuest guest(host.get());
  uint32_t graph = 0;
  ASSERT_EQ(guest.LoadByName("p", graph), kSuccess);
  EXPECT_EQ(
      guest.Text("wasinn_ext_0.describe", {graph}),
      R"({"backend":"pipeline","inputs":[{"name":"t0","type":"u8","shape":[4]}],)"
      R"("outputs":[{"name":"t2","type":"u8","shape":[4]}],"model":{"step":[)"
      R"({"model_name":"m1","backend":"echo","input_map":{"x":"t0"},"output_map":{"x":"t1"}},)"
      R"({"model_name":"m2","backend":"echo","input_map":{"x":"t1"},"output_map":{"x":"t2"}}],"stateful":false}})");
}

TEST_F(Pipelines, HaveTheDeviceOfTheirSteps) {
  Chain("p", {""});
  const HostPtr host = Host();
  BytesGuest guest(host.get());
  const auto load = [&](const std::string& config) {
    uint32_t graph = 0;
    return guest.LoadWithConfig("p", config, graph);
  };
  EXPECT_EQ(load(R"({"device": "gpu"})"), kUnsupportedOperation);
  EXPECT_THAT(guest.LastError(), HasSubstr("model 'p' is a pipeline: its steps run where their models do"));
  EXPECT_EQ(load(R"({"shade": "dark"})"), kInvalidArgument);
  EXPECT_EQ(load(R"({"outputs": ["t1"], "threads": 2})"), kSuccess);
}

}  // namespace
}  // namespace wasinn::testing
