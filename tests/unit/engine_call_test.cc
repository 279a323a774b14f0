// The library's part for engines: the table of functions, references to guests, and calls that need its help.
#include "support/echo.h"
#include "support/gate.h"

namespace wasinn::testing {
namespace {

class EngineCall : public ::testing::Test {
 protected:
  EngineCall() {
    AddEchoModel(host_.get(), "one", "in x f32 1\n");
    AddEchoModel(host_.get(), "endless", "in x f32 1\n" + gate_.Compute());
  }

  uint32_t NewContext(const char* model) {
    const uint32_t context = program_.NewContext(model);
    EXPECT_EQ(program_.Set(context, {7}), kSuccess);
    return context;
  }
  // A compute of this context, which is kept in `arg_`.
  wasinn_call ComputeOf(uint32_t context) {
    arg_ = context;
    memory_ = {sizeof memory_, 0, program_.memory().data(), program_.memory().size()};
    return {.struct_size = sizeof(wasinn_call),
            .function = &FunctionNamed("compute"),
            .guest = program_.guest.get(),
            .memory = &memory_,
            .args = &arg_,
            .stride = sizeof arg_,
            .stack_left = SIZE_MAX};
  }

  const Gate gate_;
  Log log_;
  HostPtr host_ = EchoHost(log_, "limits.compute_timeout_ms = 0\n");
  EchoProgram program_{host_.get()};
  uint32_t arg_ = 0;
  wasinn_memory memory_ = {};
};

// A second list, by hand: functions that run a framework, or wait for one that does.
TEST(EngineTable, SaysWhichFunctionsMayBlock) {
  std::vector<std::string> names;
  size_t count = 0;
  const wasinn_function* const* functions = wasinn_functions(&count);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(functions[i]->struct_size, sizeof(wasinn_function));
    // A wait for computes runs none.
    EXPECT_EQ((functions[i]->flags & WASINN_FUNCTION_MAY_BLOCK) != 0,
              (functions[i]->flags & WASINN_FUNCTION_LARGE_STACK) != 0 ||
                  functions[i]->name == std::string_view("compute_wait"));
    if (functions[i]->flags != 0) names.push_back(std::string(functions[i]->module) + "." + functions[i]->name);
  }
  EXPECT_THAT(
      names, ::testing::ElementsAre(
                 "wasi_ephemeral_nn.load", "wasi_ephemeral_nn.load_by_name", "wasi_ephemeral_nn.init_execution_context",
                 "wasi_ephemeral_nn.compute", "wasi_ephemeral_nn.get_output",
                 "wasi_ephemeral_nn.load_by_name_with_config", "wasi_ephemeral_nn.unload",
                 "wasi_ephemeral_nn.finalize_execution_context", "wasi_ephemeral_nn.compute_single",
                 "wasi_ephemeral_nn.get_output_single", "wasi_ephemeral_nn.fini_single", "wasinn_ext_0.load_as",
                 "wasinn_ext_0.get_output_by_name", "wasinn_ext_0.set_input_from_output", "wasinn_ext_0.compute_once",
                 "wasinn_ext_0.compute_begin", "wasinn_ext_0.compute_poll", "wasinn_ext_0.compute_wait", "wasi_nn.load",
                 "wasi_nn.load_by_name", "wasi_nn.init_execution_context", "wasi_nn.compute", "wasi_nn.get_output"));
}

// The parameters lie as the engine has them, and what is next to them is not looked at.
TEST_F(EngineCall, ArgumentsLieAsTheEngineHasThem) {
  struct Value {
    uint32_t i32;
    uint8_t other[28];
  };
  std::vector<Value> values(5);
  for (Value& value : values) std::fill_n(value.other, sizeof value.other, uint8_t{0xff});
  const uint32_t context = NewContext("one"), out = program_.Reserve(4), written = program_.Reserve(4);
  EXPECT_EQ(program_.Compute(context), kSuccess);
  const uint32_t args[] = {context, 0, out, 4, written};
  for (size_t i = 0; i < values.size(); ++i) values[i].i32 = args[i];
  const wasinn_memory memory{sizeof memory, 0, program_.memory().data(), program_.memory().size()};
  const wasinn_function& get_output = FunctionNamed("get_output");
  EXPECT_EQ(get_output.call(program_.guest.get(), &memory, values.data(), sizeof(Value)), kSuccess);
  EXPECT_EQ(program_.Read<float>(out), 7.f);
  program_.memory()[out] = 1;
  EXPECT_EQ(get_output.call(program_.guest.get(), &memory, args, sizeof *args), kSuccess);
  EXPECT_EQ(program_.Read<float>(out), 7.f);
}

// A thread that slept in the system may call when guest and host have gone, and the host's log with it.
TEST(EngineReference, RefusesCallsOfAGuestThatWasFreed) {
  wasinn_guest* kept = nullptr;
  uint32_t context = 0;
  {
    Log log;
    const HostPtr host = EchoHost(log);
    AddEchoModel(host.get(), "one", "in x f32 1\n");
    EchoProgram program(host.get());
    context = program.NewContext("one");
    kept = wasinn_guest_retain(program.guest.get());
    EXPECT_EQ(kept, program.guest.get());
  }
  FakeGuest late(kept);
  uint32_t graph = 0;
  EXPECT_EQ(late.LoadByName("one", graph), kRuntimeError);
  EXPECT_EQ(late.Compute(context), kRuntimeError);
  wasinn_statistics stats{.struct_size = sizeof stats};
  EXPECT_EQ(wasinn_guest_statistics(kept, &stats), nullptr);
  EXPECT_EQ(stats.graphs, 0u);
  EXPECT_EQ(stats.inside, 0u);
  wasinn_guest_release(kept);
  EXPECT_EQ(wasinn_guest_retain(nullptr), nullptr);
  wasinn_guest_release(nullptr);
}

TEST_F(EngineCall, DoesWhatTheFunctionDoes) {
  wasinn_call call = ComputeOf(NewContext("one"));
  call.refused = true;
  EXPECT_EQ(wasinn_guest_call(&call), kSuccess);
  EXPECT_FALSE(call.refused);
  arg_ = 12345;  // no context
  EXPECT_EQ(wasinn_guest_call(&call), kInvalidArgument);
  EXPECT_FALSE(call.refused);
  call.guest = nullptr;
  EXPECT_EQ(wasinn_guest_call(&call), kRuntimeError);
}

TEST_F(EngineCall, SaysWhetherItWasRefused) {
  wasinn_call call = ComputeOf(NewContext("one"));
  wasinn_guest_close(program_.guest.get());
  EXPECT_EQ(wasinn_guest_call(&call), kRuntimeError);
  EXPECT_TRUE(call.refused);
  call.refused = false;
  call.struct_size = offsetof(wasinn_call, refused);  // of an engine that does not want to know
  EXPECT_EQ(wasinn_guest_call(&call), kRuntimeError);
  EXPECT_FALSE(call.refused);
  call.struct_size = 0;
  EXPECT_EQ(wasinn_guest_call(&call), kRuntimeError);
}

// There is no deadline: the engine ends the compute. Only the host asks it.
TEST_F(EngineCall, EndsWhenTheEngineHasEndedTheGuest) {
  wasinn_call call = ComputeOf(NewContext("endless"));
  struct Engine {
    std::atomic<bool> ended{false};
    std::atomic<int> asked{0};
  } engine;
  call.caller = &engine;
  call.ended = [](void* caller) {
    auto& asked_one = *static_cast<Engine*>(caller);
    ++asked_one.asked;
    asked_one.asked.notify_all();
    return asked_one.ended.load();
  };
  std::thread computing([&] { EXPECT_EQ(wasinn_guest_call(&call), kRuntimeError); });
  gate_.Await();
  for (int asked = 0; asked < 3; asked = engine.asked) engine.asked.wait(asked);
  EXPECT_EQ(program_.Stats().inside, 1u);
  engine.ended = true;
  computing.join();
  EXPECT_FALSE(call.refused);
  EXPECT_TRUE(log_.Contains("its context or guest was closed")) << log_.Last();
  EXPECT_EQ(program_.Stats().inside, 0u);
  EXPECT_EQ(wasinn_guest_call(&call), kRuntimeError);
  EXPECT_TRUE(call.refused) << "the guest has ended";
}

// A guest that its engine has ended ends in its own way.
TEST_F(EngineCall, AGuestThatItsEngineEndedIsNotInterrupted) {
  wasinn_call call = ComputeOf(NewContext("endless"));
  std::atomic<int> interrupts{0};
  const auto interrupt = [](void* count) { ++*static_cast<std::atomic<int>*>(count); };
  ASSERT_EQ(wasinn_guest_begin_run(program_.guest.get(), interrupt, &interrupts), nullptr);
  std::atomic<int> asked{0};
  call.caller = &asked;
  call.ended = [](void* caller) { return ++*static_cast<std::atomic<int>*>(caller) > 0; };
  EXPECT_EQ(wasinn_guest_call(&call), kRuntimeError);
  EXPECT_GT(asked, 0);
  EXPECT_FALSE(wasinn_guest_end_run(program_.guest.get()));
  EXPECT_EQ(interrupts, 0);
}

TEST_F(EngineCall, CloseWaitsForACallOnAStackOfTheHosts) {
  wasinn_call call = ComputeOf(NewContext("endless"));
  call.stack_left = 4096;
  std::thread computing([&] { EXPECT_EQ(wasinn_guest_call(&call), kRuntimeError); });
  gate_.Await();
  wasinn_guest_close(program_.guest.get());
  EXPECT_EQ(program_.Stats().inside, 0u);
  computing.join();
}

// A function without flags runs at once, on any thread.
TEST_F(EngineCall, DoesNotAskTheEngineAboutShortCalls) {
  wasinn_call call = ComputeOf(NewContext("one"));
  call.function = &FunctionNamed("wasinn_ext_0.last_error");
  std::array<uint32_t, 3> args = {0, 16, 32};  // a buffer, its size, and where the text's goes
  call.args = args.data();
  call.stack_left = 0;
  call.ended = [](void*) {
    ADD_FAILURE();
    return true;
  };
  ASSERT_EQ(call.function->flags, 0u);
  EXPECT_EQ(wasinn_guest_call(&call), kSuccess);
  EXPECT_EQ(wasinn_guest_call(&call), kSuccess);
}

}  // namespace
}  // namespace wasinn::testing
