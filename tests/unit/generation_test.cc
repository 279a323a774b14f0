// Models that generate: outputs that come piece by piece, and what a guest may do in the meantime.
#include "support/echo.h"
#include "support/gate.h"
#include "support/this_build.h"
#include "turned_host.h"
#include "wit_guest.h"

namespace wasinn::testing {
namespace {

// The errnos of WasmEdge.
constexpr uint32_t kEndOfSequence = 100, kContextFull = 101;

constexpr char kPiecesModel[] = "in prompt u8 -1 opaque\nin mood u8 -1 optional always\npieces 3\n";

class Generation : public ::testing::Test {
 protected:
  explicit Generation(const std::string& toml = "") : host_(EchoHost(log_, toml)) {
    AddEchoModel(host_.get(), "m", kPiecesModel);
  }

  uint32_t Prompt(uint32_t context, std::string_view text) {
    return program_.SetInput<char>(context, 0, {1}, kU8, {text.begin(), text.end()});
  }
  uint32_t Asked(std::string_view text, std::string_view model = "m") {
    const uint32_t context = program_.NewContext(model);
    EXPECT_EQ(Prompt(context, text), kSuccess);
    return context;
  }
  uint32_t Step(uint32_t context) { return program_.Call("compute_single", {context}); }
  uint32_t Get(const char* function, uint32_t context, uint32_t room = 200, uint32_t index = 0) {
    const uint32_t buffer = program_.Reserve(room), written = program_.Reserve(4);
    const uint32_t error = program_.Call(function, {context, index, buffer, room, written});
    needed_ = program_.Read<uint32_t>(written);
    return error;
  }
  std::string Piece(uint32_t context) { return program_.Text("get_output_single", {context, 0}); }
  std::string Output(uint32_t context, uint32_t index = 0) { return program_.Text("get_output", {context, index}); }

  Log log_;
  HostPtr host_;
  EchoProgram program_{host_.get()};
  uint32_t needed_ = 0;
};

TEST_F(Generation, PiecesUntilTheEnd) {
  const uint32_t context = Asked("abcdefgh");
  std::string all;
  uint32_t error;
  while ((error = Step(context)) == kSuccess) {
    all += Piece(context);
    EXPECT_EQ(Output(context), all);
  }
  EXPECT_EQ(error, kEndOfSequence);
  EXPECT_EQ(all, "abcdefgh");
  EXPECT_EQ(Step(context), kEndOfSequence) << "and it stays so";
  EXPECT_EQ(Output(context), all);
  EXPECT_FALSE(log_.Contains("end_of_sequence")) << "it is no failure";
  EXPECT_EQ(program_.Stats().errors, 0u);
  EXPECT_EQ(program_.Call("fini_single", {context}), kSuccess);
  EXPECT_EQ(Output(context), all);
}

TEST_F(Generation, APieceMayBeReadAgain) {
  const uint32_t context = Asked("abcdefgh");
  ASSERT_EQ(Step(context), kSuccess);
  EXPECT_EQ(Get("get_output_single", context, 2), kTooLarge);
  EXPECT_EQ(needed_, 3u);
  EXPECT_EQ(Piece(context), "abc");
  EXPECT_EQ(Piece(context), "abc");
}

TEST_F(Generation, NoPieceBeforeAStepAndAfterTheEnd) {
  const uint32_t context = Asked("ab");
  EXPECT_EQ(Get("get_output_single", context), kInvalidArgument);
  EXPECT_EQ(Get("get_output", context), kInvalidArgument);
  ASSERT_EQ(Step(context), kSuccess);
  EXPECT_EQ(Get("get_output_single", context, 200, 2), kInvalidArgument);
  ASSERT_EQ(Step(context), kEndOfSequence);
  EXPECT_EQ(Get("get_output_single", context), kInvalidArgument);
}

TEST_F(Generation, AnInputThatWasNeverSet) { EXPECT_EQ(Step(program_.NewContext("m")), kInvalidArgument); }

// It takes all inputs away first.
TEST_F(Generation, IsOverAfterAComputeThatLacksInputs) {
  const uint32_t context = Asked("abcdefgh");
  ASSERT_EQ(Step(context), kSuccess);
  EXPECT_FALSE(WitGuest(program_.guest.get()).Compute(context, {}).ok());
  EXPECT_EQ(Step(context), kInvalidArgument) << "the prompt is not set";
}

TEST_F(Generation, MayBeFinishedSeveralTimes) {
  const uint32_t context = Asked("abcdefgh");
  EXPECT_EQ(program_.Call("fini_single", {context}), kSuccess);
  ASSERT_EQ(Step(context), kSuccess);
  ASSERT_EQ(Step(context), kSuccess);
  EXPECT_EQ(program_.Call("fini_single", {context}), kSuccess);
  EXPECT_EQ(program_.Call("fini_single", {context}), kSuccess);
  EXPECT_EQ(Output(context), "abcdef");
  ASSERT_EQ(Step(context), kSuccess);
  EXPECT_EQ(Piece(context), "abc") << "a generation of its own";
}

TEST_F(Generation, AnInputEndsIt) {
  const uint32_t context = Asked("abcdefgh");
  ASSERT_EQ(Step(context), kSuccess);
  ASSERT_EQ(Prompt(context, "12345"), kSuccess);
  EXPECT_EQ(Get("get_output_single", context), kInvalidArgument);
  ASSERT_EQ(Step(context), kSuccess);
  EXPECT_EQ(Piece(context), "123");
}

TEST_F(Generation, AComputeIsAllOfItAndEndsOneUnderWay) {
  const uint32_t context = Asked("abcdefgh");
  ASSERT_EQ(Step(context), kSuccess);
  ASSERT_EQ(program_.Compute(context), kSuccess);
  EXPECT_EQ(Output(context), "abcdefgh");
  EXPECT_EQ(Get("get_output_single", context), kInvalidArgument);
  ASSERT_EQ(Step(context), kSuccess);
  EXPECT_EQ(Piece(context), "abc");
}

TEST_F(Generation, AFullContextKeepsWhatItHas) {
  AddEchoModel(host_.get(), "narrow", std::string(kPiecesModel) + "room 6\n");
  const uint32_t context = Asked("abcdefgh", "narrow");
  EXPECT_EQ(program_.Compute(context), kContextFull);
  EXPECT_EQ(Output(context), "abcdef");
  EXPECT_EQ(Step(context), kSuccess);
  EXPECT_EQ(Step(context), kSuccess);
  EXPECT_EQ(Step(context), kContextFull);
  EXPECT_EQ(Output(context), "abcdef");
  EXPECT_TRUE(log_.Contains("compute: context_full: echo: no room is left"));
}

TEST_F(Generation, TwoContextsDoNotMix) {
  const uint32_t letters = Asked("abcdef"), digits = Asked("123456");
  std::string both;
  while (Step(letters) == kSuccess && Step(digits) == kSuccess) both += Piece(letters) + Piece(digits);
  EXPECT_EQ(both, "abc123def456");
}

TEST_F(Generation, AnOutputThatIsAlwaysThereNeedsNoCompute) {
  const uint32_t context = program_.NewContext("m");
  EXPECT_EQ(Output(context, 1), "{}");
  EXPECT_EQ(Get("get_output", context), kInvalidArgument);
}

TEST_F(Generation, ConfigurationOfContextsSharesTheModel) {
  const auto output_of = [&](std::string_view config) {
    uint32_t graph = 0, context = 0;
    EXPECT_EQ(program_.LoadWithConfig("m", config, graph), kSuccess);
    EXPECT_EQ(program_.InitContext(graph, context), kSuccess);
    return Output(context, 1);
  };
  EXPECT_EQ(output_of(R"({"mood": "gay"})"), R"({"mood":"gay"})");
  EXPECT_EQ(output_of(R"({"mood": "sad"})"), R"({"mood":"sad"})");
  EXPECT_EQ(program_.Stats().model_bytes, 0u);
  EXPECT_EQ(output_of(R"({"mood": "sad", "shade": 1})"), R"({"mood":"sad"})");
  EXPECT_GT(program_.Stats().model_bytes, 0u) << "shade is a matter of the compile";
}

TEST_F(Generation, OneThreadAtATime) {
  const Gate gate;
  AddEchoModel(host_.get(), "slow", kPiecesModel + gate.Compute());
  const uint32_t context = Asked("abc", "slow");
  FakeGuest thread(program_.guest.get());
  uint32_t error = kSuccess;
  std::jthread stepping([&] { error = thread.Call("compute_single", {context}); });
  gate.Await();
  EXPECT_EQ(Get("get_output", context), kBusy);
  EXPECT_EQ(Step(context), kBusy);
  EXPECT_EQ(Get("get_output_single", context), kBusy);
  EXPECT_EQ(program_.Call("fini_single", {context}), kBusy);
  EXPECT_EQ(program_.Finalize(context), kSuccess);
  stepping.join();
  EXPECT_EQ(error, kRuntimeError) << "and a context that goes takes its step along";
}

TEST_F(Generation, AStepHasADeadline) {
  AddEchoModel(host_.get(), "slow", std::string(kPiecesModel) + "delay 1000000\n");
  program_ = EchoProgram(NewGuest(host_.get(), &wasinn_limits::compute_timeout_ms, 50u));
  const uint32_t context = Asked("abc", "slow");
  EXPECT_EQ(Step(context), kRuntimeError);
  EXPECT_TRUE(log_.Contains("compute_single: timeout: echo: the compute was stopped after 50 ms")) << log_.Last();
  EXPECT_TRUE(log_.Contains("--nn-timeout")) << "what sets it";
  EXPECT_EQ(Get("get_output", context), kInvalidArgument);
}

// The model may be here or in a worker.
class OverdueGeneration : public ::testing::TestWithParam<bool> {
 protected:
  OverdueGeneration() {
    const std::string model = std::string(kPiecesModel) + "endless 120\n";
    EXPECT_EQ(AddEchoModel(host_.get(), "m", model, {.isolate = GetParam()}), nullptr);
    context_ = program_.NewContext("m");
  }
  uint32_t Prompt(std::string_view text) {
    return program_.SetInput<char>(context_, 0, {1}, kU8, {text.begin(), text.end()});
  }
  // Its deadline passes after so many looks of the watchdog.
  uint32_t CallUntilLate(const char* function, uint64_t scans = 2) {
    const core::Watchdog& dog = host_->host->watchdog();
    while (!dog.asleep()) std::this_thread::yield();
    auto ends = std::async(std::launch::async, [&] { return program_.Call(function, {context_}); });
    while (dog.asleep()) std::this_thread::yield();
    for (const uint64_t seen = dog.scans() + scans; dog.scans() < seen;) std::this_thread::yield();
    hands_.Turn(std::chrono::minutes(1));
    return ends.get();
  }
  std::string Output() { return program_.Text("get_output", {context_, 0}); }

  core::Clock::Hands hands_;
  Log log_;
  const HostPtr host_ = TurnedHost(hands_, log_, "worker = '" + WorkerFile() + "'\n");
  EchoProgram program_{host_.get()};
  uint32_t context_ = 0;
};

TEST_P(OverdueGeneration, AComputeLeavesTheTextSoFar) {
  ASSERT_EQ(Prompt("abcdefghxj"), kSuccess);
  uint32_t error = kRuntimeError;
  for (uint64_t scans = 2; error == kRuntimeError; scans *= 2) error = CallUntilLate("compute", scans);
  EXPECT_EQ(error, kContextFull);
  EXPECT_EQ(Output(), "abcdef");
  EXPECT_TRUE(log_.Contains("compute: context_full: echo: the compute was stopped after 30000 ms")) << log_.Last();
  EXPECT_TRUE(log_.Contains("--nn-timeout")) << "what sets it";
  ASSERT_EQ(Prompt("123"), kSuccess);
  EXPECT_EQ(program_.Call("compute", {context_}), kSuccess) << "the next one has its own time";
  EXPECT_EQ(Output(), "123");
}

TEST_P(OverdueGeneration, SoDoesAStep) {
  ASSERT_EQ(Prompt("abcdxf"), kSuccess);
  ASSERT_EQ(program_.Call("compute_single", {context_}), kSuccess);
  EXPECT_EQ(CallUntilLate("compute_single"), kContextFull);
  EXPECT_EQ(Output(), "abc");
  EXPECT_TRUE(log_.Contains("--nn-timeout"));
}

TEST_P(OverdueGeneration, WithoutAPieceItIsATimeout) {
  ASSERT_EQ(Prompt("xbc"), kSuccess);
  EXPECT_EQ(CallUntilLate("compute"), kRuntimeError);
  EXPECT_TRUE(log_.Contains("compute: timeout: echo: the compute was stopped after 30000 ms")) << log_.Last();
}

INSTANTIATE_TEST_SUITE_P(Where, OverdueGeneration, ::testing::Bool(),
                         [](const auto& where) { return where.param ? "Worker" : "Here"; });

class SmallGeneration : public Generation {
 protected:
  SmallGeneration() : Generation("limits.max_tensor_bytes = 40000\n") {}
};

TEST_F(SmallGeneration, TheGeneratedOutputIsCharged) {
  AddEchoModel(host_.get(), "wordy", "in prompt u8 -1 opaque\npieces 9000\n");
  const uint32_t context = Asked(std::string(25000, 'x'), "wordy");
  EXPECT_EQ(Step(context), kSuccess);
  EXPECT_EQ(Step(context), kTooLarge);
  EXPECT_EQ(Get("get_output", context), kInvalidArgument);
  EXPECT_EQ(Prompt(context, "abc"), kSuccess);
  EXPECT_EQ(Step(context), kSuccess) << "and the context goes on";
  EXPECT_EQ(Piece(context), "abc");
}

}  // namespace
}  // namespace wasinn::testing
