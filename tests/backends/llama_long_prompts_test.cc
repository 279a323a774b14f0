// Conversations beside those of a guest that keeps places busy for long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends/expect.h"
#include "backends/late.h"
#include "backends/llama_guest.h"

namespace wasinn::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Of a model for long prompts, which take long though each of their batches is short.
std::string LongMemory() {
  return TinyLlamaWriter(
             {.embedding = 8, .layers = 1, .heads = 2, .kv_heads = 1, .feed_forward = 8, .context = 1 << 20})
      .Write();
}

// Computes until it is cancelled, which is at the end of this.
class Busy {
 public:
  Busy(Context* context, std::atomic<int>* ended)
      : context_(context), thread_([context, ended] {
          EXPECT_EQ(context->Compute().code, WASINN_TIMEOUT);
          ++*ended;
        }) {}
  ~Busy() {
    const Watchdog now(context_, milliseconds(0));
    thread_.join();
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  Context* const context_;
  std::thread thread_;
};

class LlamaLongPrompts : public ::testing::Test {
 protected:
  // Each place has a batch of its own, so that a long prompt takes many.
  explicit LlamaLongPrompts(const std::string& places = "2", const std::string& tokens = "3")
      : model_(host_, LongMemory(),
               LlamaOptions(R"({"temp": 0, "ctx-size": 1048576, "ubatch-size": 8, "parallel": )" + places +
                            R"(, "n-predict": )" + tokens + "}")) {}

  void SetUp() override { ASSERT_TRUE(model_.loaded()) << model_.loaded().message; }

  // Until it has had to wait for a place, which is when the others have all.
  void ComputeUntilItWaits(Context* context) const {
    for (steady_clock::duration took{}; took < std::chrono::seconds(1) && ended_ == 0;) {
      const Watchdog watchdog(context, std::chrono::seconds(30));
      const auto start = steady_clock::now();
      const Result computed = context->Compute();
      ASSERT_TRUE(computed) << computed.message;
      took = steady_clock::now() - start;
    }
  }

  const Host host_;
  const Model model_;
  Account greedy_, modest_;
  std::atomic<int> ended_ = 0;  // of those that are busy
};

class LlamaLongPromptsOfOne : public LlamaLongPrompts {
 protected:
  LlamaLongPromptsOfOne() : LlamaLongPrompts("1") {}
};

class LlamaLongPromptsOfThree : public LlamaLongPrompts {
 protected:
  LlamaLongPromptsOfThree() : LlamaLongPrompts("3", "1") {}
};

// A guest that keeps all places busy must share them with another.
TEST_F(LlamaLongPrompts, OfAnotherGuestShareThePlaces) {
  Context other(model_, 0, R"({"n-predict": 5})", &modest_);
  ASSERT_TRUE(SetPrompt(&other, Prompt(2)));
  std::vector<std::unique_ptr<Context>> many;
  std::vector<std::unique_ptr<Busy>> busy;
  for (int i = 0; i < 4; ++i) {
    many.push_back(std::make_unique<Context>(model_, 0, "{}", &greedy_));
    ASSERT_TRUE(SetPrompt(many.back().get(), Prompt(1)));
    ASSERT_TRUE(SetOptions(many.back().get(), R"({"grammar": "root ::= [a-z]+", "n-predict": -1})"))
        << "without an end";
    busy.push_back(std::make_unique<Busy>(many.back().get(), &ended_));
  }
  for (int i = 0; i < 3; ++i) {
    const Watchdog watchdog(&other, std::chrono::minutes(2));
    const Result computed = other.Compute();
    EXPECT_TRUE(computed) << computed.message;
  }
  EXPECT_EQ(ended_, 0) << "while the others went on";
}

// A place is taken back from one who does not use it, though its guest has a prompt evaluated in another, which takes long.
TEST_F(LlamaLongPrompts, KeepNoPlaceThatAnotherDoesNotUse) {
  Context idle(model_, 0, "{}", &greedy_), slow(model_, 0, "{}", &greedy_), other(model_, 0, "{}", &modest_);
  ASSERT_TRUE(SetPrompt(&idle, Prompt(1)));
  const std::string whole = Complete(&idle);
  ASSERT_TRUE(idle.Step());
  ASSERT_TRUE(SetPrompt(&slow, Prompt(40'000)));
  const Busy busy(&slow, &ended_);
  ASSERT_TRUE(SetPrompt(&other, Prompt(2)));
  for (Result computed; computed;) {  // until no place is free
    const Watchdog watchdog(&other, milliseconds(50));
    computed = other.Compute();
  }
  ASSERT_TRUE(idle.Finish());
  ASSERT_TRUE(idle.Step()) << "later, so that the long prompt's place is due first";
  ComputeUntilItWaits(&other);
  EXPECT_EQ(ended_, 0);
  while (idle.Step()) {
  }
  EXPECT_EQ(Written(&idle), whole);
}

// A guest that has long prompts evaluated in all places gives one up before it is through.
TEST_F(LlamaLongPrompts, GiveUpAPlaceInTheirMidst) {
  Context slow[2] = {Context(model_, 0, "{}", &greedy_), Context(model_, 0, "{}", &greedy_)};
  Context other(model_, 0, "{}", &modest_);
  for (Context& context : slow) ASSERT_TRUE(SetPrompt(&context, Prompt(40'000)));
  ASSERT_TRUE(SetPrompt(&other, Prompt(2)));
  const Busy one(&slow[0], &ended_), two(&slow[1], &ended_);
  ComputeUntilItWaits(&other);
  EXPECT_EQ(ended_, 0);
}

// Whether or not they have lost their place meanwhile.
TEST_F(LlamaLongPrompts, GiveWhatTheyWouldHaveGivenUninterrupted) {
  const std::string prompt = Prompt(1'000);
  std::string expected;
  {
    Context alone(model_);
    ASSERT_TRUE(SetPrompt(&alone, prompt));
    expected = Complete(&alone);
  }
  Context slow[2] = {Context(model_, 0, "{}", &greedy_), Context(model_, 0, "{}", &greedy_)};
  Context other(model_, 0, "{}", &modest_);
  ASSERT_TRUE(SetPrompt(&other, Prompt(2)));
  std::vector<std::thread> threads;
  for (Context& context : slow) {
    ASSERT_TRUE(SetPrompt(&context, prompt));
    threads.emplace_back([&context, &expected, this] {
      EXPECT_EQ(Complete(&context), expected);
      ++ended_;
    });
  }
  while (ended_ < 2) EXPECT_TRUE(other.Compute());
  for (std::thread& thread : threads) thread.join();
}

// Has a long prompt evaluated, for which another one must give up its place, until it is cancelled. It is late itself
// then, so that it does not take its result before others.
class Rival {
 public:
  Rival(Context* context, milliseconds deadline)
      : watchdog_(context, deadline), thread_([context, this] {
          const Late::Here here(&late_);
          EXPECT_TRUE(SetPrompt(context, Prompt(40'000)));
          EXPECT_EQ(context->Compute().code, WASINN_TIMEOUT);
        }) {}
  ~Rival() {
    late_.Release();
    thread_.join();
  }
  Rival(const Rival&) = delete;
  Rival& operator=(const Rival&) = delete;

  // Or cancelled before.
  bool IsEvaluated() const { return late_.HasBegun(); }
  void AwaitEvaluated() const { late_.AwaitBegun(); }

 private:
  Late late_;
  const Watchdog watchdog_;
  std::thread thread_;
};

// Who is woken late gets the result of its own evaluation, not that of one who had its place meanwhile.
TEST_F(LlamaLongPromptsOfOne, TakeNoPlaceOfOneWhoIsWokenLate) {
  Context slow(model_, 0, "{}", &modest_), other(model_, 0, "{}", &greedy_);
  ASSERT_TRUE(SetPrompt(&slow, Prompt(1)));
  const std::string expected = Complete(&slow);
  Late late;
  std::string got;
  std::thread thread([&] {
    const Late::Here here(&late);
    got = Complete(&slow);
  });
  EXPECT_TRUE(late.AwaitHeld());
  {
    const Rival rival(&other, std::chrono::seconds(4));
    rival.AwaitEvaluated();
    late.Release();
    thread.join();
  }
  EXPECT_EQ(got, expected);
}

// Nor where its guest has more than its share.
TEST_F(LlamaLongPrompts, TakeNoPlaceOfOneWhoIsWokenLate) {
  Context first(model_, 0, "{}", &greedy_), slow(model_, 0, "{}", &greedy_), other(model_, 0, "{}", &modest_);
  for (Context* context : {&first, &slow}) {
    ASSERT_TRUE(SetPrompt(context, Prompt(1)));
    ASSERT_TRUE(SetOptions(context, R"({"grammar": "root ::= [a-z]+", "n-predict": -1})")) << "without an end";
  }
  // Places that are used are kept for a while.
  for (const auto start = steady_clock::now(); steady_clock::now() - start < milliseconds(2'100);) {
    ASSERT_TRUE(first.Step());
    ASSERT_TRUE(slow.Step());
  }
  Late late;
  Result got;
  std::thread thread([&] {
    const Late::Here here(&late);
    got = slow.Step();
  });
  EXPECT_TRUE(late.AwaitHeld());
  // After the second of these the other one's is there, too, if it was woken by what was not meant for it.
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(first.Step());
  {
    const Rival rival(&other, std::chrono::seconds(4));
    while (!rival.IsEvaluated()) EXPECT_TRUE(first.Step());
    late.Release();
    thread.join();
  }
  EXPECT_TRUE(got) << got.message;
  EXPECT_TRUE(slow.Step()) << "wherever it goes on";
}

// They leave room for one that comes behind them.
TEST_F(LlamaLongPromptsOfThree, HoldUpNoOther) {
  Context contexts[3] = {Context(model_), Context(model_), Context(model_)};
  for (Context& context : contexts) {  // each has a place, to which it comes back
    ASSERT_TRUE(SetPrompt(&context, Prompt(1)));
    ASSERT_TRUE(context.Compute());
  }
  for (Context& quick : contexts) {
    ended_ = 0;
    std::vector<std::unique_ptr<Busy>> busy;
    for (Context& slow : contexts) {
      if (&slow == &quick) continue;
      ASSERT_TRUE(SetPrompt(&slow, Prompt(40'000)));
      busy.push_back(std::make_unique<Busy>(&slow, &ended_));
    }
    for (size_t i = 0; i < 20 && !HasFailure(); ++i) {
      const Watchdog watchdog(&quick, std::chrono::minutes(1));
      EXPECT_TRUE(SetPrompt(&quick, (i % 2 == 0 ? "oats " : "hen ") + Prompt(20 + i)));
      EXPECT_TRUE(quick.Compute());
    }
    EXPECT_EQ(ended_, 0) << "before one that is short";
  }
}

}  // namespace
}  // namespace wasinn::test
