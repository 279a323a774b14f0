// The host's thread budget: with how many threads llama.cpp computes.
#include "backends/expect.h"
#include "backends/llama_calls.h"
#include "backends/llama_models.h"

namespace wasinn::test {
namespace {

constexpr uint32_t kBudget = 4;

class LlamaThreads : public ::testing::Test {
 protected:
  LlamaThreads()
      : host_(Calls::kHost, kBudget),
        alone_(host_, TinyModel(), LlamaOptions(R"({"temp": 0, "n-predict": 4})")),
        together_(host_, TinyModel(), LlamaOptions(R"({"temp": 0, "n-predict": 4, "parallel": 2})")) {}

  const Host host_;
  const LoadedModel alone_, together_;
  const Calls calls_;
};

void MustComplete(Context* context, const std::string& prompt) {
  EXPECT_TRUE(SetPrompt(context, prompt));
  MustCompute(context);
}

TEST_F(LlamaThreads, OneComputeGetsAll) {
  const Model* models[] = {&alone_, &alone_, &together_, &alone_, &together_};
  std::vector<std::unique_ptr<Context>> idle;
  for (const Model* model : models) {
    idle.push_back(std::make_unique<Context>(*model));
    Complete(idle.back().get(), "the hen");
    EXPECT_THAT(Calls::TakeThreads(), AllOf(Not(SizeIs(0)), Each(kBudget))) << "context " << idle.size();
  }
  // In the middle of a generation, too.
  ASSERT_TRUE(idle[0]->Step());
  ASSERT_TRUE(idle[2]->Step());
  Complete(idle[1].get(), "oats");
  EXPECT_THAT(Calls::TakeThreads(), AllOf(Not(SizeIs(0)), Each(kBudget)));
  ASSERT_TRUE(SetOptions(idle[1].get(), R"({"threads": 2})"));
  Complete(idle[1].get(), "the oats");
  EXPECT_THAT(Calls::TakeThreads(), AllOf(Not(SizeIs(0)), Each(2)));
}

// One is held inside of llama.cpp in the meantime.
TEST_F(LlamaThreads, AreSharedByConcurrentComputes) {
  Context small(alone_, 0, R"({"threads": 3})"), second(alone_), third(together_);
  for (Context* held : {&small, &third}) {
    std::atomic<bool> inside = false, released = false;
    Calls::SetInside([&] {
      if (inside.exchange(true)) return;
      released.wait(false);
    });
    std::thread thread([&] { MustComplete(held, "the hen"); });
    while (!inside) std::this_thread::yield();
    EXPECT_THAT(Calls::TakeThreads(), Each(held == &small ? 3 : kBudget));
    MustComplete(&second, held == &small ? "oats" : "the oats");
    EXPECT_THAT(Calls::TakeThreads(), AllOf(Not(SizeIs(0)), Each(held == &small ? 2 : 1)));
    released = true;
    released.notify_all();
    thread.join();
    Calls::TakeThreads();
  }
}

TEST_F(LlamaThreads, StayWithinTheBudgetTogether) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      Context context(i % 2 == 0 ? alone_ : together_);
      for (int n = 0; n < 10; ++n) MustComplete(&context, n % 2 == 0 ? "the hen ate the oats" : "oats");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Calls::most_helpers(), kBudget - 1);
}

// However many contexts there are, few OS threads sleep for them.
TEST_F(LlamaThreads, SleepingThreadsAreLimited) {
  const int before = CountThreads();
  std::vector<std::unique_ptr<Context>> idle;
  for (int i = 0; i < 20; ++i) {
    idle.push_back(std::make_unique<Context>(alone_));
    Complete(idle.back().get(), "the hen");
    EXPECT_THAT(Calls::TakeThreads(), Each(kBudget));
  }
  EXPECT_LE(CountThreads(), before + 4 * static_cast<int>(kBudget - 1));
  idle.clear();
  EXPECT_LE(CountThreads(), before);
}

// By llama.cpp itself, with no stand-in.
TEST(LlamaTwoThreads, ComputeTheSameAsOne) {
  const Host host("{}", 2);
  const LoadedModel model(host, TinyModel(), LlamaOptions(R"({"temp": 0, "n-predict": 2})"));
  Context two(model), one(model, 0, R"({"threads": 1})");
  EXPECT_EQ(Complete(&two, "the hen"), Complete(&one, "the hen"));
}

}  // namespace
}  // namespace wasinn::test
