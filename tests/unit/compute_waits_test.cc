// Waits for computes that a guest has begun: compute_wait, also of guests that their engine sets aside.
#include "unit/begun_calls.h"
#include "unit/computes.h"
#include "unit/no_memory.h"
#include "unit/turned_host.h"

namespace wasinn::testing {
namespace {

using Program = ComputesProgram;

class ComputeWaits : public ComputesTest {};

TEST_F(ComputeWaits, AWaitHasTheIndexOfOneThatHasEnded) {
  Program program(host_.get());
  const uint32_t waits = program.NewContext("waits"), ends = program.NewContext("in_turn");
  EXPECT_EQ(program.Begin(waits), kSuccess);
  gate_.Await();
  EXPECT_EQ(program.Begin(ends), kSuccess);
  uint32_t index = 7;
  EXPECT_EQ(program.Wait({waits, ends}, kForEver, &index), kSuccess);
  EXPECT_EQ(index, 1u);
  EXPECT_EQ(program.Wait({ends, waits}, 0, &index), kSuccess) << "again, until it is polled";
  EXPECT_EQ(index, 0u);
  EXPECT_EQ(program.Poll(ends), kSuccess);
  gate_.Open();
  EXPECT_EQ(program.Await(waits), kSuccess);
}

TEST_F(ComputeWaits, AWaitEndsInTime) {
  core::Clock::Hands hands;
  host_ = TurnedHost(hands, log_, "limits.compute_timeout_ms = 0\n");
  AddModels();
  Program program(host_.get());
  const uint32_t context = program.NewContext("waits");
  EXPECT_EQ(program.Begin(context), kSuccess);
  auto waits = std::async(std::launch::async, [&] {
    uint32_t index = 7;
    return program.Wait({context}, 5000, &index);
  });
  Turn(hands, host_, std::chrono::milliseconds(4000));
  Turn(hands, host_, std::chrono::milliseconds(0));
  EXPECT_EQ(waits.wait_for(std::chrono::milliseconds(0)), std::future_status::timeout);
  EXPECT_EQ(TurnUntilDone(hands, waits), kBusy);
  gate_.Open();
  EXPECT_EQ(program.Await(context), kSuccess);
}

TEST_F(ComputeWaits, AWaitForWhatIsNotThereIsRefused) {
  Program program(host_.get());
  const uint32_t context = program.NewContext("waits"), idle = program.NewContext("waits");
  EXPECT_EQ(program.Begin(context), kSuccess);
  uint32_t index = 7;
  const auto refused = [&](const std::vector<uint32_t>& contexts) {
    EXPECT_EQ(program.Wait(contexts, kForEver, &index), kInvalidArgument);
    return program.LastError();
  };
  EXPECT_THAT(refused({context, idle}), HasSubstr("no compute has begun on context"));
  EXPECT_THAT(refused({context, context}), HasSubstr("is given twice"));
  EXPECT_THAT(refused({context, 77}), HasSubstr("0x4d is not a handle of a live context"));
  EXPECT_THAT(refused({}), HasSubstr("a wait for no compute would never end"));
  EXPECT_THAT(refused(std::vector<uint32_t>(257, context)), HasSubstr("is over the limit of 256"));
  const auto end = static_cast<uint32_t>(program.memory().size());
  const uint32_t list = program.PutAll(std::vector<uint32_t>{context});
  for (const auto& [at, count, out] : std::vector<std::array<uint32_t, 3>>{
           {end - 3, 1, list}, {list, UINT32_MAX, list}, {UINT32_MAX, 1, list}, {list, 1, end - 3}}) {
    EXPECT_EQ(program.Call("wasinn_ext_0.compute_wait", {at, count, kForEver, out}), kInvalidArgument);
  }
  for (const char* function : {"begin", "poll", "cancel"}) {
    EXPECT_EQ(program.Call(std::string("wasinn_ext_0.compute_") + function, {77}), kInvalidArgument);
    EXPECT_THAT(program.LastError(), HasSubstr("0x4d is not a handle of a live context"));
  }
  gate_.Open();
  EXPECT_EQ(program.Await(context), kSuccess) << "nothing of that waits for it any more";
}

// One thread of the guest waits for it, others do what they like.
TEST_F(ComputeWaits, OneThreadWaitsForEach) {
  Program program(host_.get());
  FakeGuest other(program.guest.get());
  std::atomic<bool> is_gone{false};
  const auto wait = [&is_gone](FakeGuest& thread, uint32_t context) {
    const uint32_t list = thread.PutAll(std::vector<uint32_t>{context}), out = thread.Reserve(4);
    for (;;) {  // the other thread may wait at this moment
      const uint32_t error = thread.Call("wasinn_ext_0.compute_wait", {list, 1, kForEver, out});
      if (error != kInvalidArgument || is_gone) return error;
    }
  };
  const uint32_t context = program.NewContext("waits");
  EXPECT_EQ(program.Begin(context), kSuccess);
  gate_.Await();
  auto waits = std::async(std::launch::async, [&] { return wait(other, context); });
  while (program.Stats().inside == 0) std::this_thread::yield();
  uint32_t index = 7;
  while (program.Wait({context}, 0, &index) != kInvalidArgument) program.Rewind();  // the other thread may come later
  EXPECT_THAT(program.LastError(), HasSubstr("another thread waits for context"));
  is_gone = true;
  EXPECT_EQ(program.Finalize(context), kSuccess);
  EXPECT_EQ(waits.get(), kInvalidArgument) << "its context is gone";
  EXPECT_EQ(program.Poll(context), kInvalidArgument);
}

TEST_F(ComputeWaits, AWaitEndsWithItsGuest) {
  Add("deaf", kHostsTurns + ("deaf\n" + gate_.Compute()));
  Program program(host_.get());
  const uint32_t context = program.NewContext("deaf");
  EXPECT_EQ(program.Begin(context), kSuccess);
  gate_.Await();
  auto waits = std::async(std::launch::async, [&] {
    uint32_t index = 7;
    return program.Wait({context}, kForEver, &index);
  });
  while (program.Stats().inside == 0) std::this_thread::yield();
  wasinn_guest_stop(program.guest.get());
  EXPECT_EQ(waits.get(), kRuntimeError) << "its compute goes on";
  gate_.Open();
}

// ---- Guests that another engine's event loop runs

TEST_F(ComputeWaits, AWaitNeedsNoThreadIfItsEngineCanSetItAside) {
  constexpr int kMany = 30;
  Open("max_computes = 2\n");
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<uint32_t> contexts, outs;
  std::vector<std::unique_ptr<Begun>> waits;
  for (int i = 0; i < kMany; ++i) {
    programs.push_back(std::make_unique<Program>(host_.get()));
    Program& program = *programs.back();
    contexts.push_back(program.NewContext("waits"));
    Begun begin(program.guest.get(), program, "wasinn_ext_0.compute_begin", {contexts.back()});
    begin.Begin();
    EXPECT_EQ(begin.Await(), kSuccess);
    const uint32_t list = program.PutAll(std::vector<uint32_t>{contexts.back()});
    outs.push_back(program.PutAll(std::vector<uint32_t>{7}));
    waits.push_back(std::make_unique<Begun>(program.guest.get(), program, "wasinn_ext_0.compute_wait",
                                            std::vector<uint32_t>{list, 1, kForEver, outs.back()}));
    waits.back()->Begin();
  }
  Program other(host_.get());
  const auto compute = other.BegunProgram::Compute(other.NewContext("at_once"));
  compute->Begin();
  EXPECT_EQ(compute->Await(), kSuccess) << "the thread is free";
  for (const auto& wait : waits) EXPECT_FALSE(wait->is_done());
  gate_.Open();
  for (int i = 0; i < kMany; ++i) {
    EXPECT_EQ(waits[static_cast<size_t>(i)]->Await(), kSuccess);
    Program& program = *programs[static_cast<size_t>(i)];
    EXPECT_EQ(program.Read<uint32_t>(outs[static_cast<size_t>(i)]), 0u);
    Begun poll(program.guest.get(), program, "wasinn_ext_0.compute_poll", {contexts[static_cast<size_t>(i)]});
    poll.Begin();
    EXPECT_EQ(poll.Await(), kSuccess);
    EXPECT_EQ(program.Output(contexts[static_cast<size_t>(i)]), 7);
  }
}

TEST_F(ComputeWaits, SuchAWaitIsRefusedAndEndsAsAnyOther) {
  Program program(host_.get());
  const uint32_t context = program.NewContext("waits"), list = program.PutAll(std::vector<uint32_t>{context}),
                 out = program.Reserve(4);
  const auto call = [&](uint32_t ms) {
    auto begun = std::make_unique<Begun>(program.guest.get(), program, "wasinn_ext_0.compute_wait",
                                         std::vector<uint32_t>{list, 1, ms, out});
    begun->Begin();
    return begun;
  };
  EXPECT_EQ(call(kForEver)->Await(), kInvalidArgument);
  EXPECT_THAT(program.LastError(), HasSubstr("compute_wait: invalid_argument: no compute has begun on context"));
  EXPECT_EQ(program.Begin(context), kSuccess);
  gate_.Await();
  EXPECT_EQ(call(0)->Await(), kBusy);
  EXPECT_EQ(call(1)->Await(), kBusy);
  std::atomic<bool> is_ended{false};
  Begun ended(program.guest.get(), program, "wasinn_ext_0.compute_wait", {list, 1, kForEver, out});
  ended.EndedBy(is_ended);
  ended.Begin();
  is_ended = true;
  (void)ended.Await();
  wasinn_guest_close(program.guest.get());
}

// One of its computes may end while it is refused.
TEST_F(ComputeWaits, ARefusedWaitIsNotifiedOfNothing) {
  Open("log.level = \"error\"\n");
  Program program(host_.get());
  const uint32_t context = program.NewContext("in_turn"), idle = program.NewContext("in_turn");
  const uint32_t list = program.PutAll(std::vector<uint32_t>{context, idle}), out = program.Reserve(4);
  for (int round = 0; round < 2000; ++round) {
    EXPECT_EQ(program.Begin(context), kSuccess);
    Begun wait(program.guest.get(), program, "wasinn_ext_0.compute_wait", {list, 2, kForEver, out});
    wait.Begin();
    EXPECT_EQ(wait.Await(), kInvalidArgument);
    uint32_t error = kBusy;
    while (error == kBusy) error = program.Poll(context);
    EXPECT_EQ(error, kSuccess);
  }
}

// The host's only thread for calls has no memory from the end of one call to the end of the last.
TEST_F(ComputeWaits, WithoutAThreadAndWithoutMemoryAreReported) {
  Program program(host_.get());
  const uint32_t ended = program.NewContext("in_turn"), idle = program.NewContext("in_turn");
  const uint32_t list = program.PutAll(std::vector<uint32_t>{ended, idle}), out = program.Reserve(4);
  EXPECT_EQ(program.Begin(ended), kSuccess);
  uint32_t index = 7;
  EXPECT_EQ(program.Wait({ended}, kForEver, &index), kSuccess);
  const auto call = [&](const char* function, std::vector<uint32_t> args, std::function<void()> at_end = nullptr) {
    Begun begun(program.guest.get(), program, function, std::move(args));
    begun.AtEnd(std::move(at_end));
    begun.Begin();
    return begun.Await();
  };
  for (const auto& [count, usual] : {std::pair(1u, kSuccess), std::pair(2u, kInvalidArgument)}) {
    uint32_t result = kRuntimeError;
    for (int allowed = 0; result == kRuntimeError; ++allowed) {
      std::optional<NoMemory> scarce;
      call("wasinn_ext_0.compute_poll", {idle}, [&] { scarce.emplace(allowed); });
      result = call("wasinn_ext_0.compute_wait", {list, count, kForEver, out});
      call("wasinn_ext_0.compute_poll", {idle}, [&] { scarce.reset(); });
      EXPECT_TRUE(result == kRuntimeError || result == usual) << result;
      EXPECT_EQ(program.Wait({ended}, 0, &index), kSuccess) << "nothing waits for it any more: " << program.LastError();
    }
  }
}

}  // namespace
}  // namespace wasinn::testing
