// wasinn_guest_call_begin: calls that no thread waits for, their order, and their ends.
#include <semaphore>

#include "support/gate.h"
#include "unit/begun_calls.h"
#include "unit/begun_without_memory.h"
#include "unit/forked.h"

namespace wasinn::testing {
namespace {

class BegunCalls : public ::testing::Test {
 protected:
  using Program = BegunProgram;
  explicit BegunCalls(const std::string& settings = "call_threads = 1\nlimits.compute_timeout_ms = 0\n") {
    host_ = EchoHost(log_, settings);
    AddEchoModel(host_.get(), "one", "in x f32 1\n");
    AddEchoModel(host_.get(), "waits", "in x f32 1\n" + gate_.Compute());
  }

  Log log_;
  const Gate gate_;
  HostPtr host_;
};

// So that what `done` uses is there until wasinn_guest_close has returned.
TEST_F(BegunCalls, AreInsideUntilDoneHasReturned) {
  struct Ends {
    const GuestPtr* guest;
    std::vector<uint32_t> inside;
    std::binary_semaphore done{0};
  } reported{};  // before the guest, whose close waits for `note`
  Program program(host_.get());
  reported.guest = &program.guest;
  const auto note = [](void* user, uint32_t) {
    auto* it = static_cast<Ends*>(user);
    it->inside.push_back(StatsOf(*it->guest).inside);
    it->done.release();
  };
  const uint32_t context = program.NewContext("one"), out = program.Reserve(4);
  wasinn_memory memory{sizeof memory, 0, program.memory().data(), program.memory().size()};
  for (const char* function : {"get_output", "compute"}) {  // one that may not block, and one that may
    const uint32_t args[] = {context, 0, out, 4, out};
    wasinn_call call{.struct_size = sizeof(wasinn_call),
                     .function = &FunctionNamed(function),
                     .guest = program.guest.get(),
                     .memory = &memory,
                     .args = args,
                     .stride = sizeof(uint32_t)};
    wasinn_guest_call_begin(&call, note, &reported);
    reported.done.acquire();
  }
  EXPECT_EQ(reported.inside, std::vector<uint32_t>({1, 1}));
}

TEST_F(BegunCalls, AreDoneElsewhere) {
  Program program(host_.get());
  const uint32_t context = program.NewContext("waits");
  const auto begun = program.Compute(context);
  begun->Begin();
  gate_.Await();
  EXPECT_FALSE(begun->is_done());
  EXPECT_EQ(program.Stats().inside, 1u);
  gate_.Open();
  EXPECT_EQ(begun->Await(), kSuccess);
  EXPECT_FALSE(begun->call().refused);
}

TEST_F(BegunCalls, OfAFunctionThatCannotBlockAreDoneAtOnce) {
  Program program(host_.get());
  const uint32_t context = program.NewContext("one");
  Begun begun(program.guest.get(), program, "set_input", {context, 1, 0});
  begun.Begin();
  EXPECT_TRUE(begun.is_done());
  EXPECT_EQ(begun.Await(), kInvalidArgument);
}

TEST_F(BegunCalls, GuestsTakeTurns) {
  Program first(host_.get()), greedy(host_.get()), modest(host_.get());
  const auto held = first.Compute(first.NewContext("waits"));
  std::vector<std::unique_ptr<Begun>> calls;
  std::vector<int> order;
  held->Begin(&order, 0);
  gate_.Await();
  for (int i = 1; i <= 4; ++i) calls.push_back(greedy.Compute(greedy.NewContext("one")));
  calls.push_back(modest.Compute(modest.NewContext("one")));
  for (int i = 0; i < 5; ++i) calls[static_cast<size_t>(i)]->Begin(&order, i + 1);
  gate_.Open();
  for (const auto& call : calls) EXPECT_EQ(call->Await(), kSuccess);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 5, 2, 3, 4}));
}

TEST_F(BegunCalls, OfAStoppedGuestEndBeforeTheirTurn) {
  Program first(host_.get()), waits(host_.get());
  const auto held = first.Compute(first.NewContext("waits"));
  held->Begin();
  gate_.Await();
  const auto begun = waits.Compute(waits.NewContext("one"));
  begun->Begin();
  EXPECT_FALSE(begun->is_done());
  wasinn_guest_close(waits.guest.get());
  EXPECT_TRUE(begun->is_done()) << "close waits for it";
  EXPECT_EQ(begun->Await(), kRuntimeError);
  EXPECT_FALSE(held->is_done());
  wasinn_guest_stop(first.guest.get());
  EXPECT_EQ(held->Await(), kRuntimeError) << "it is cancelled";
}

// An engine may be slow to handle the end of a call, although it must not be.
TEST_F(BegunCalls, WhoseEndsTakeLongHoldUpNoDeadline) {
  struct Ending {
    std::binary_semaphore has_begun{0}, may_end{0};
    static void Take(void* self, uint32_t) {
      static_cast<Ending*>(self)->has_begun.release();
      static_cast<Ending*>(self)->may_end.acquire();
    }
  };
  Program first(host_.get()), late(NewGuest(host_.get(), &wasinn_limits::run_timeout_ms, 50));
  Program other(NewGuest(host_.get(), &wasinn_limits::compute_timeout_ms, 50));
  const auto held = first.Compute(first.NewContext("waits"));
  held->Begin();
  gate_.Await();  // the only thread for such calls is taken
  const auto begun = late.Compute(late.NewContext("one"));
  const StatusPtr status(wasinn_guest_begin_run(late.guest.get(), [](void*) {}, nullptr));
  ASSERT_EQ(status, nullptr);
  Ending ending;
  wasinn_call call = begun->call();
  wasinn_guest_call_begin(&call, &Ending::Take, &ending);
  ending.has_begun.acquire();
  const uint32_t context = other.NewContext("waits");
  auto computed = std::async(std::launch::async, [&] { return other.Call("compute", {context}); });
  EXPECT_EQ(computed.wait_for(kPatience), std::future_status::ready) << "it has a deadline";
  ending.may_end.release();
  EXPECT_EQ(computed.get(), kRuntimeError);
  EXPECT_FALSE(held->is_done());
  EXPECT_TRUE(wasinn_guest_end_run(late.guest.get()));
  wasinn_guest_close(late.guest.get());  // no call takes anything of `ending` any more
  gate_.Open();
  EXPECT_EQ(held->Await(), kSuccess);
}

TEST_F(BegunCalls, OfAGuestWhoseRunHasEndedEndBeforeTheirTurn) {
  Program first(host_.get()), late(NewGuest(host_.get(), &wasinn_limits::run_timeout_ms, 100));
  const auto held = first.Compute(first.NewContext("waits"));
  held->Begin();
  gate_.Await();
  const auto begun = late.Compute(late.NewContext("one"));
  const StatusPtr status(wasinn_guest_begin_run(late.guest.get(), [](void*) {}, nullptr));
  ASSERT_EQ(status, nullptr);
  begun->Begin();
  EXPECT_EQ(begun->Await(), kRuntimeError);
  EXPECT_FALSE(held->is_done());
  EXPECT_TRUE(wasinn_guest_end_run(late.guest.get()));
  gate_.Open();
  EXPECT_EQ(held->Await(), kSuccess);
}

// If a mark that one of its calls sees ends a guest, calls that have not begun end, too.
TEST_F(BegunCalls, OfAGuestThatItsEngineEndsEndBeforeTheirTurn) {
  Program program(host_.get());
  const auto held = program.Compute(program.NewContext("waits")), begun = program.Compute(program.NewContext("one"));
  std::atomic<bool> is_ended{false};
  held->EndedBy(is_ended);
  held->Begin();
  gate_.Await();
  Program other(host_.get());
  const auto of_other = other.Compute(other.NewContext("waits"));
  of_other->Begin();  // has the thread next
  begun->Begin();
  is_ended = true;
  EXPECT_EQ(begun->Await(), kRuntimeError);
  EXPECT_EQ(held->Await(), kRuntimeError);
  EXPECT_FALSE(of_other->is_done());
  gate_.Open();
  EXPECT_EQ(of_other->Await(), kSuccess);
}

TEST_F(BegunCalls, AGuestThatIsClosedIsRefused) {
  Program program(host_.get());
  const auto begun = program.Compute(program.NewContext("one"));
  wasinn_guest_close(program.guest.get());
  begun->Begin();
  EXPECT_EQ(begun->Await(), kRuntimeError);
  EXPECT_TRUE(begun->call().refused);
}

// None of the threads is there: neither is waited for.
TEST_F(BegunCalls, AProcessThatWasForkedOffIsRefusedAndMayFree) {
  auto program = std::make_unique<Program>(host_.get());
  const uint32_t context = program->NewContext("one");
  const auto here = program->Compute(context), there = program->Compute(context);
  here->Begin();
  EXPECT_EQ(here->Await(), kSuccess);
  EXPECT_EQ(here->CallWithoutStack(), kSuccess);
  EXPECT_TRUE(IsTrueInAFork([&] {
    there->Begin();
    const bool refused = there->Await() == kRuntimeError && here->CallWithoutStack() == kRuntimeError;
    program.reset();
    host_.reset();
    return refused;
  }));
  EXPECT_EQ(here->CallWithoutStack(), kSuccess);
}

TEST_F(BegunCalls, AProcessThatWasForkedOffWaitsForNoneThatWasInside) {
  auto program = std::make_unique<Program>(host_.get());
  const auto held = program->Compute(program->NewContext("waits"));
  held->Begin();
  gate_.Await();
  EXPECT_TRUE(IsTrueInAFork([&] {
    program.reset();
    host_.reset();
    return true;
  }));
  gate_.Open();
  EXPECT_EQ(held->Await(), kSuccess);
}

// Each end is reported once, even if the guest is ended at that moment, in any way.
TEST_F(BegunCalls, EndOnceIfTheirGuestEndsAsTheyBegin) {
  host_ = EchoHost(log_, "call_threads = 2\nlog.level = \"error\"\n");
  AddEchoModel(host_.get(), "one", "in x f32 1\n");
  for (int round = 0; round < 30; ++round) {
    Program program(NewGuest(host_.get(), &wasinn_limits::run_timeout_ms, 5));
    std::vector<uint32_t> contexts;
    for (int i = 0; i < 3; ++i) contexts.push_back(program.NewContext("one"));
    std::atomic<int> begun{0};
    std::vector<std::jthread> threads;
    if (round % 3 == 0) {
      const StatusPtr status(wasinn_guest_begin_run(program.guest.get(), [](void*) {}, nullptr));
      ASSERT_EQ(status, nullptr);
    }
    for (const uint32_t context : contexts) {
      threads.emplace_back([&program, &begun, context] {
        for (bool refused = false; !refused;) {
          const auto call = program.Compute(context);
          call->Begin();
          ++begun;
          (void)call->Await();
          refused = call->call().refused;
        }
      });
    }
    if (round % 3 == 0) continue;  // its deadline ends it
    while (begun < 10) std::this_thread::yield();
    if (round % 3 == 1) wasinn_guest_stop(program.guest.get());
    wasinn_guest_close(program.guest.get());
  }
}

TEST_F(BegunCalls, WithoutMemoryEachEndIsReported) {
  Program program(host_.get());
  const uint32_t context = program.NewContext("one");
  ExpectReportedWithoutMemory(program, context);
}

}  // namespace
}  // namespace wasinn::testing
