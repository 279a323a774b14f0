// Threads of the host's with large stacks, which calls of guests borrow.
#include <pthread.h>
#include <wasinn/engine.h>

#include "core/runtime/large_stacks.h"
#include "support/test.h"

namespace wasinn::core {
namespace {

TEST(LargeStacksTest, OneGuestLeavesSomeToOthers) {
  constexpr int kCalls = 40;
  LargeStacks stacks;
  LargeStacks::Share one, other;
  std::atomic<int> inside = 0, most = 0, ran = 0;
  std::atomic<bool> open = false;
  const auto call = [&] {
    const int now = ++inside;
    for (int before = most; now > before && !most.compare_exchange_weak(before, now);) continue;
    open.wait(false);
    --inside;
    ++ran;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kCalls; ++i) threads.emplace_back([&] { EXPECT_TRUE(stacks.Run(one, call).ok()); });
  while (inside < static_cast<int>(LargeStacks::kMaxOfOneGuest)) std::this_thread::yield();
  size_t left = 0;
  EXPECT_TRUE(stacks.Run(other, [&] { left = StackLeft(SIZE_MAX); }).ok());
  EXPECT_GT(left, size_t{2} * WASINN_FRAMEWORK_STACK);
  EXPECT_LT(left, SIZE_MAX);
  open = true;
  open.notify_all();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran, kCalls);
  EXPECT_EQ(most, static_cast<int>(LargeStacks::kMaxOfOneGuest));
}

// The room on this thread's own stack, and on a part of it. A sanitizer takes some for itself; the system gives smaller
// ones again.
TEST(LargeStacksTest, HowMuchIsLeft) {
  static constexpr size_t kAll = size_t{64} << 20;
  const auto check = [] {
    const size_t all = StackLeft(SIZE_MAX);
    EXPECT_GT(all, kAll / 2);
    EXPECT_LT(all, kAll);
    const size_t part = StackLeft(kAll / 2);
    EXPECT_LT(part, kAll / 2);
    EXPECT_GT(part, 0u);
  };
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, kAll), 0);
  pthread_t thread;
  void* (*run)(void*) = [](void* function) -> void* {
    (*static_cast<decltype(check)*>(function))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<void*>(static_cast<const void*>(&check))), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace
}  // namespace wasinn::core
