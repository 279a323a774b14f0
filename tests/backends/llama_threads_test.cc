// The host's thread budget: with how many threads llama.cpp computes.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "backends/expect.h"
#include "backends/llama_guest.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Not;
using ::testing::SizeIs;

constexpr uint32_t kBudget = 4;

// Whom the stand-in for llama.cpp tells of its calls.
class Calls {
 public:
  Calls() {
    threads_.clear();
    helpers_ = most_helpers_ = 0;
    Tell() = Called;
  }
  ~Calls() {
    Tell() = nullptr;
    inside_ = nullptr;
  }

  // Of each call since the last time.
  static std::vector<int> TakeThreads() {
    const std::lock_guard lock(mutex_);
    return std::exchange(threads_, {});
  }
  // The most at one time beside those who called.
  static int most_helpers() { return most_helpers_; }
  // What happens in a call.
  static void SetInside(std::function<void()> inside) { inside_ = std::move(inside); }

 private:
  using TellFunction = void (*)(int threads);

  static TellFunction& Tell() {
    void* library = dlopen(testing::InThisBuild("lib/libllama_shim_threads.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    return *static_cast<TellFunction*>(dlsym(library, "wasinn_shim_decodes"));
  }
  static void Called(int threads) {
    static thread_local int mine = 0;
    {
      const std::lock_guard lock(mutex_);
      helpers_ += threads > 0 ? threads - 1 : 1 - mine;
      most_helpers_ = std::max(most_helpers_, helpers_);
      if (threads > 0) threads_.push_back(threads);
    }
    mine = threads;
    if (threads > 0 && inside_) inside_();
  }

  static inline std::mutex mutex_;
  static inline std::vector<int> threads_;
  static inline int helpers_ = 0, most_helpers_ = 0;
  static inline std::function<void()> inside_;
};

class LlamaThreads : public ::testing::Test {
 protected:
  LlamaThreads()
      : host_(R"({"library": ")" + testing::InThisBuild("lib/libllama_shim_threads.so") + "\"}", kBudget),
        alone_(host_, TinyLlamaWriter().Write(), LlamaOptions(R"({"temp": 0, "n-predict": 4})")),
        together_(host_, TinyLlamaWriter().Write(), LlamaOptions(R"({"temp": 0, "n-predict": 4, "parallel": 2})")) {}

  const Host host_;
  const Model alone_, together_;
  const Calls calls_;
};

void Complete(Context* context, const std::string& prompt) {
  EXPECT_TRUE(SetPrompt(context, prompt));
  const Result computed = context->Compute();
  EXPECT_TRUE(computed) << computed.message;
}

TEST_F(LlamaThreads, AreAllThereForOneThatComputes) {
  ASSERT_TRUE(alone_.loaded()) << alone_.loaded().message;
  ASSERT_TRUE(together_.loaded()) << together_.loaded().message;
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

// One is held inside of llama.cpp meanwhile.
TEST_F(LlamaThreads, AreSharedByThoseThatComputeAtOnce) {
  Context small(alone_, 0, R"({"threads": 3})"), second(alone_), third(together_);
  for (Context* held : {&small, &third}) {
    std::atomic<bool> inside = false, released = false;
    Calls::SetInside([&] {
      if (inside.exchange(true)) return;
      released.wait(false);
    });
    std::thread thread([&] { Complete(held, "the hen"); });
    while (!inside) std::this_thread::yield();
    EXPECT_THAT(Calls::TakeThreads(), Each(held == &small ? 3 : kBudget));
    Complete(&second, held == &small ? "oats" : "the oats");
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
      for (int n = 0; n < 10; ++n) Complete(&context, n % 2 == 0 ? "the hen ate the oats" : "oats");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Calls::most_helpers(), kBudget - 1);
}

// However many contexts there are, few OS threads sleep for them.
TEST_F(LlamaThreads, OfIdleContextsAreBounded) {
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

}  // namespace
}  // namespace wasinn::test
