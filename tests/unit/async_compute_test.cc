// Computes that go on without a thread: wasinn_guest_call_begin where the backend has compute_async.
#include "support/gate.h"
#include "unit/begun_calls.h"
#include "unit/begun_without_memory.h"

namespace wasinn::testing {
namespace {

// One thread for all calls.
class AsyncCompute : public ::testing::Test {
 protected:
  using Program = BegunProgram;
  AsyncCompute() { Open("limits.compute_timeout_ms = 0\n"); }

  void Open(const std::string& settings) {
    host_ = EchoHost(log_, "call_threads = 1\n" + settings);
    Add("at_once", "");
    Add("later", "async later\n");
    Add("waits", "async later\n" + gate_.Compute());
  }
  void Add(const char* model, const std::string& lines) { AddEchoModel(host_.get(), model, "in x f32 1\n" + lines); }
  static uint32_t Compute(Program& program, uint32_t context) {
    const auto begun = program.Compute(context);
    begun->Begin();
    return begun->Await();
  }

  Log log_;
  const Gate gate_;
  HostPtr host_;
};

TEST_F(AsyncCompute, ManyWaitOnOneThread) {
  constexpr int kMany = 50;
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<uint32_t> contexts;
  std::vector<std::unique_ptr<Begun>> calls;
  for (int i = 0; i < kMany; ++i) {
    programs.push_back(std::make_unique<Program>(host_.get()));
    contexts.push_back(programs.back()->NewContext("waits"));
    calls.push_back(programs.back()->Compute(contexts.back()));
    calls.back()->Begin();
  }
  Program other(host_.get());
  EXPECT_EQ(Compute(other, other.NewContext("at_once")), kSuccess) << "the thread is free";
  for (const auto& call : calls) EXPECT_FALSE(call->is_done());
  gate_.Open();
  for (size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(calls[i]->Await(), kSuccess);
    EXPECT_EQ(programs[i]->Output(contexts[i]), 7);
    EXPECT_EQ(programs[i]->Stats().computes, 1u);
  }
}

TEST_F(AsyncCompute, OneContextComputesAgainAndAgain) {
  Program program(host_.get());
  const uint32_t context = program.NewContext("later");
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(program.Set(context, {static_cast<float>(i)}), kSuccess);
    ASSERT_EQ(Compute(program, context), kSuccess);
    EXPECT_EQ(program.Output(context), static_cast<float>(i));
  }
}

TEST_F(AsyncCompute, ItsContextIsBusy) {
  Program program(host_.get());
  const uint32_t context = program.NewContext("waits");
  const auto begun = program.Compute(context);
  begun->Begin();
  gate_.Await();
  EXPECT_EQ(program.Set(context, {8}), kBusy);
  EXPECT_EQ(Compute(program, context), kBusy);
  gate_.Open();
  EXPECT_EQ(begun->Await(), kSuccess);
  EXPECT_EQ(program.Output(context), 7);
}

TEST_F(AsyncCompute, FailsAsAComputeDoes) {
  Add("fails", "async later\nfail " + std::to_string(WASINN_ERROR_TOO_LARGE) + "\n");
  Add("refused", "async refused\n");
  Program program(host_.get());
  const uint32_t fails = program.NewContext("fails"), refused = program.NewContext("refused");
  EXPECT_EQ(Compute(program, fails), kTooLarge);
  EXPECT_TRUE(log_.Contains("compute: too_large: echo: compute fails as the model says"));
  EXPECT_EQ(program.Call("get_output", {fails, 0, 64, 4, 64}), kInvalidArgument) << "there is none";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Compute(program, refused), kRuntimeError);
  EXPECT_TRUE(log_.Contains("compute: unavailable: echo: nothing is begun here"));
}

TEST_F(AsyncCompute, WithoutItsInputNothingBegins) {
  Program program(host_.get());
  uint32_t graph = 0, context = 0;
  ASSERT_EQ(program.LoadByName("waits", graph), kSuccess);
  ASSERT_EQ(program.InitContext(graph, context), kSuccess);
  EXPECT_EQ(Compute(program, context), kInvalidArgument);
}

// An end that a backend reports twice is passed on once, and the context still works.
TEST_F(AsyncCompute, ASecondEndIsLogged) {
  Add("twice", "async twice\n");
  {
    Program program(host_.get());
    const uint32_t context = program.NewContext("twice");
    for (int i = 0; i < 20; ++i) EXPECT_EQ(Compute(program, context), kSuccess);
    EXPECT_EQ(program.Output(context), 7);
  }
  EXPECT_TRUE(log_.Contains("echo: the backend reported the end of a compute that was over"));
}

TEST_F(AsyncCompute, HasADeadline) {
  Open("limits.compute_timeout_ms = 50\n");
  Program program(host_.get());
  EXPECT_EQ(Compute(program, program.NewContext("waits")), kRuntimeError);
  EXPECT_TRUE(log_.Contains("the compute was stopped after 50 ms: compute cancelled"));
}

TEST_F(AsyncCompute, EndsWithItsGuest) {
  Program stopped(host_.get()), goes_on(host_.get());
  const auto begun = stopped.Compute(stopped.NewContext("waits")), other = goes_on.Compute(goes_on.NewContext("waits"));
  begun->Begin();
  other->Begin();
  gate_.Await();
  wasinn_guest_stop(stopped.guest.get());
  EXPECT_EQ(begun->Await(), kRuntimeError);
  EXPECT_FALSE(other->is_done());
  gate_.Open();
  EXPECT_EQ(other->Await(), kSuccess);
}

TEST_F(AsyncCompute, EndsWithItsContext) {
  Program program(host_.get());
  const uint32_t context = program.NewContext("waits");
  const auto begun = program.Compute(context);
  begun->Begin();
  gate_.Await();
  EXPECT_EQ(program.Finalize(context), kSuccess);
  EXPECT_EQ(begun->Await(), kRuntimeError);
}

TEST_F(AsyncCompute, EndsWithAGuestThatItsEngineEnds) {
  Program program(host_.get());
  std::atomic<bool> is_ended{false};
  const auto begun = program.Compute(program.NewContext("waits"));
  begun->EndedBy(is_ended);
  begun->Begin();
  gate_.Await();
  is_ended = true;
  EXPECT_EQ(begun->Await(), kRuntimeError);
}

TEST_F(AsyncCompute, CloseWaitsForWhatCannotBeCancelled) {
  Add("deaf", "async later\ndeaf\n" + gate_.Compute());
  Program program(host_.get());
  const auto begun = program.Compute(program.NewContext("deaf"));
  begun->Begin();
  gate_.Await();
  std::atomic<bool> is_closed{false};
  const std::jthread closer([&] {
    wasinn_guest_close(program.guest.get());
    EXPECT_TRUE(begun->is_done());
    is_closed = true;
  });
  for (bool refuses = false; !refuses; std::this_thread::yield()) {
    Begun other(program.guest.get(), program, "set_input", {0, 0, 0});
    other.Begin();
    refuses = other.call().refused;
  }
  EXPECT_FALSE(is_closed);
  gate_.Open();
  EXPECT_NE(begun->Await(), kSuccess);
}

// Another guest's compute holds the only thread, so the closing thread ends the call itself.
TEST_F(AsyncCompute, CloseNeedsNoThread) {
  const Gate of_holder;
  Add("holds", "shares\nturns 1\n" + of_holder.Compute());
  Program program(host_.get()), holder(host_.get());
  const auto begun = program.Compute(program.NewContext("waits")), held = holder.Compute(holder.NewContext("holds"));
  begun->Begin();
  gate_.Await();
  held->Begin();
  of_holder.Await();
  wasinn_guest_close(program.guest.get());
  EXPECT_EQ(begun->Await(), kRuntimeError);
  EXPECT_FALSE(held->is_done());
  of_holder.Open();
  EXPECT_EQ(held->Await(), kSuccess);
}

// Each end is reported once, whichever event comes first.
TEST_F(AsyncCompute, EndsWhileItsGuestDoes) {
  Open("log.level = \"error\"\n");
  for (int round = 0; round < 100; ++round) {
    Program program(host_.get());
    std::vector<std::unique_ptr<Begun>> calls;
    for (int i = 0; i < 3; ++i) {
      calls.push_back(program.Compute(program.NewContext(i == 0 ? "at_once" : "later")));
    }
    for (const auto& call : calls) call->Begin();
    if (round % 3 == 0) (void)calls[0]->Await();
    if (round % 2 == 0) wasinn_guest_stop(program.guest.get());
    wasinn_guest_close(program.guest.get());
    for (const auto& call : calls) EXPECT_TRUE(call->is_done());
  }
}

TEST_F(AsyncCompute, WithoutMemoryEachEndIsReported) {
  Program program(host_.get());
  const uint32_t context = program.NewContext("later");
  ExpectReportedWithoutMemory(program, context);
}

}  // namespace
}  // namespace wasinn::testing
