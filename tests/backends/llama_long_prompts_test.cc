// Conversations next to those of a guest that keeps places busy for long.
#include "backends/expect.h"
#include "backends/late.h"
#include "backends/llama_guest.h"
#include "backends/own_clock.h"

namespace wasinn::test {
namespace {

// A model for long prompts: a prompt takes long, though each of its batches is short.
std::string LongMemory() {
  return TinyLlamaWriter(
             {.embedding = 8, .layers = 1, .heads = 2, .kv_heads = 1, .feed_forward = 8, .context = 1 << 20})
      .Write();
}

// Longer than a place is kept for one that another wants.
constexpr std::chrono::seconds kLater(3);
constexpr size_t kLong = 40'000;  // of a prompt

class LlamaLongPrompts : public ::testing::Test {
 protected:
  // Each place has a batch of its own, so that a long prompt takes many.
  explicit LlamaLongPrompts(const std::string& places = "2", const std::string& tokens = "3")
      : model_(host_, LongMemory(),
               LlamaOptions(R"({"temp": 0, "ctx-size": 1048576, "ubatch-size": 8, "parallel": )" + places +
                            R"(, "n-predict": )" + tokens + "}")) {}

  // Until it has had to wait for a place, which is when the others have all; then it is later.
  static void ComputeUntilItWaits(Context* context) {
    for (bool has_waited = false; !has_waited;) {
      Waiter waiter(context);
      has_waited = waiter.AwaitPolls(3);
      if (has_waited) waiter.clock().Turn(kLater);
      const Result computed = waiter.Join();
      ASSERT_TRUE(computed) << computed.message;
    }
  }

  const Host host_;
  const LoadedModel model_;
  Account greedy_, modest_;
};

class LlamaLongPromptsOfOne : public LlamaLongPrompts {
 protected:
  LlamaLongPromptsOfOne() : LlamaLongPrompts("1", "1") {}
};

class LlamaLongPromptsOfThree : public LlamaLongPrompts {
 protected:
  LlamaLongPromptsOfThree() : LlamaLongPrompts("3", "1") {}
};

// A guest that keeps all places busy must share them with another.
TEST_F(LlamaLongPrompts, ShareTheSlotsWithOtherGuests) {
  Context other(model_, 0, R"({"n-predict": 5})", &modest_);
  ASSERT_TRUE(SetPrompt(&other, Prompt(2)));
  std::deque<Context> many;
  std::deque<Busy> busy;
  for (int i = 0; i < 4; ++i) {
    Context& context = many.emplace_back(model_, 0, kWithoutEnd, &greedy_);
    ASSERT_TRUE(SetPrompt(&context, Prompt(1)));
    busy.emplace_back(&context);
  }
  for (int i = 0; i < 3; ++i) ComputeUntilItWaits(&other);
  for (const Busy& one : busy) EXPECT_FALSE(one.has_ended());
}

// A place is taken back from a context that does not use it, though its guest has a long prompt evaluated in another.
TEST_F(LlamaLongPrompts, GetSlotsOfIdleGuests) {
  Context idle(model_, 0, "{}", &greedy_), slow(model_, 0, "{}", &greedy_), other(model_, 0, "{}", &modest_);
  const std::string whole = Complete(&idle, Prompt(1));
  ASSERT_TRUE(idle.Step());
  ASSERT_TRUE(SetPrompt(&slow, Prompt(kLong)));
  const Busy busy(&slow);
  ASSERT_TRUE(SetPrompt(&other, Prompt(2)));
  for (bool is_free = true; is_free;) {
    Waiter waiter(&other);
    is_free = !waiter.AwaitPolls(3);
    const Result computed = is_free ? waiter.Join() : waiter.Cancel();
    EXPECT_EQ(computed.code, is_free ? WASINN_OK : WASINN_ERROR_TIMEOUT) << computed.message;
  }
  ASSERT_TRUE(idle.Finish());
  ASSERT_TRUE(idle.Step()) << "later, so that the long prompt's place is due first";
  ComputeUntilItWaits(&other);
  EXPECT_FALSE(busy.has_ended());
  while (idle.Step()) {
  }
  EXPECT_EQ(Written(&idle), whole);
}

// A guest that has long prompts evaluated in all places gives one up before it is through.
TEST_F(LlamaLongPrompts, LoseASlotDuringEvaluation) {
  Context slow[2] = {Context(model_, 0, "{}", &greedy_), Context(model_, 0, "{}", &greedy_)};
  Context other(model_, 0, "{}", &modest_);
  for (Context& context : slow) ASSERT_TRUE(SetPrompt(&context, Prompt(kLong)));
  ASSERT_TRUE(SetPrompt(&other, Prompt(2)));
  const Busy one(&slow[0]), two(&slow[1]);
  ComputeUntilItWaits(&other);
  EXPECT_FALSE(one.has_ended() || two.has_ended());
}

// Whether or not they have lost their place in the meantime.
TEST_F(LlamaLongPrompts, GiveTheSameResultAfterInterruptions) {
  const std::string prompt = Prompt(150);
  Context slow[2] = {Context(model_, 0, "{}", &greedy_), Context(model_, 0, "{}", &greedy_)};
  Context other(model_, 0, "{}", &modest_);
  ASSERT_TRUE(SetPrompt(&other, Prompt(2)));
  std::string expected;
  {
    Context alone(model_);
    ASSERT_TRUE(SetPrompt(&alone, prompt));
    expected = Complete(&alone);
  }
  std::atomic<int> ended = 0;
  std::vector<std::thread> threads;
  for (Context& context : slow) {
    ASSERT_TRUE(SetPrompt(&context, prompt));
    threads.emplace_back([&] {
      EXPECT_EQ(Complete(&context), expected);
      ++ended;
    });
  }
  OwnClock ahead;  // places are due whenever it comes
  ahead.Turn(kLater);
  while (ended < 2) EXPECT_TRUE(other.Compute());
  for (std::thread& thread : threads) thread.join();
}

// Wants the place of another, which is due. It is late itself once it has it, so that it takes no result before others.
class Rival {
 public:
  explicit Rival(Context* context)
      : waiter_(context, [this, context] {
          const Late::Here here(&late_);
          EXPECT_TRUE(SetPrompt(context, Prompt(kLong)));
          return context->Compute();
        }) {
    waiter_.AwaitPolls(1);
    waiter_.clock().Turn(kLater);
  }
  ~Rival() {
    late_.Release();
    EXPECT_EQ(waiter_.Cancel().code, WASINN_ERROR_TIMEOUT);
  }
  Rival(const Rival&) = delete;
  Rival& operator=(const Rival&) = delete;

  // It has asked for the place some times, or has it.
  bool HasTried() {
    waiter_.AwaitPolls(0);
    return waiter_.clock().polls() > 20 || late_.HasBegun();
  }

 private:
  Late late_;
  Waiter waiter_;
};

// A thread that wakes late gets the result of its own evaluation, not that of a later one in the same place.
TEST_F(LlamaLongPromptsOfOne, TakeNoSlotOfALateWaiter) {
  Context slow(model_, 0, "{}", &modest_), other(model_, 0, "{}", &greedy_);
  const std::string expected = Complete(&slow, Prompt(1));
  Late late;
  std::string got;
  std::thread thread([&] {
    const Late::Here here(&late);
    got = Complete(&slow);
  });
  EXPECT_TRUE(late.AwaitHeld());
  {
    Rival rival(&other);
    while (!rival.HasTried()) std::this_thread::yield();
    late.Release();
    thread.join();
  }
  EXPECT_EQ(got, expected);
}

// Nor where its guest has more than its share.
TEST_F(LlamaLongPrompts, TakeNoSlotOfALateWaiter) {
  Context first(model_, 0, kWithoutEnd, &greedy_), slow(model_, 0, kWithoutEnd, &greedy_),
      other(model_, 0, "{}", &modest_);
  OwnClock clock;
  // Places that were used just now are kept: these are, much later than they were taken.
  for (Context* context : {&first, &slow}) ASSERT_TRUE(SetPrompt(context, Prompt(1)));
  for (const auto later : {0 * kLater, 100 * kLater}) {
    clock.Turn(later);
    for (Context* context : {&first, &slow}) ASSERT_TRUE(context->Step());
  }
  Late late;
  Waiter waiter(&slow, [&] {
    const Late::Here here(&late);
    return slow.Step();
  });
  EXPECT_TRUE(late.AwaitHeld());
  waiter.clock().Turn(100 * kLater);
  // After the second of these the other one's is there, too, if it was woken by what was not meant for it.
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(first.Step());
  Result got;
  {
    Rival rival(&other);
    while (!rival.HasTried()) EXPECT_TRUE(first.Step());
    late.Release();
    got = waiter.Join();
  }
  EXPECT_TRUE(got) << got.message;
  EXPECT_TRUE(slow.Step()) << "wherever it goes on";
}

// They leave room for one that comes behind them.
TEST_F(LlamaLongPromptsOfThree, DoNotDelayOthers) {
  Context contexts[3] = {Context(model_), Context(model_), Context(model_)};
  for (Context& context : contexts) {  // each has a place, to which it comes back
    ASSERT_TRUE(ComputeOn(&context, Prompt(1)));
  }
  for (Context& quick : contexts) {
    std::deque<Busy> busy;
    for (Context& slow : contexts) {
      if (&slow == &quick) continue;
      ASSERT_TRUE(SetPrompt(&slow, Prompt(kLong)));
      busy.emplace_back(&slow);
    }
    for (size_t i = 0; i < 20 && !HasFailure(); ++i) {
      EXPECT_TRUE(SetPrompt(&quick, (i % 2 == 0 ? "oats " : "hen ") + Prompt(5 + i)));
      EXPECT_TRUE(quick.Compute());
    }
    for (const Busy& one : busy) EXPECT_FALSE(one.has_ended()) << "before one that is short";
  }
}

}  // namespace
}  // namespace wasinn::test
