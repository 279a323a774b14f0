// Threads for calls that nobody waits for: how many there are.
#include "core/executor.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "unit/forked.h"

namespace wasinn::core {
namespace {

// Where jobs wait for each other.
class Meeting {
 public:
  explicit Meeting(int awaited) : awaited_(awaited) {}
  void Arrive() {
    std::unique_lock lock(mutex_);
    ++here_;
    changed_.notify_all();
    if (!changed_.wait_for(lock, std::chrono::seconds(10), [this] { return here_ >= awaited_; })) failed_ = true;
    ++left_;
    changed_.notify_all();
  }
  // Until all have left. False: one was not there in time.
  bool End() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return left_ == awaited_; });
    return !failed_;
  }

 private:
  const int awaited_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int here_ = 0, left_ = 0;
  bool failed_ = false;
};

bool Meet(Executor& executor, Executor::Share& share, int count) {
  Meeting meeting(count);
  for (int i = 0; i < count; ++i) EXPECT_TRUE(executor.Begin(share, [&meeting] { meeting.Arrive(); }).ok());
  return meeting.End();
}

// Whether the threads of the first two have come to rest when the three begin is up to the system.
TEST(Executor, RunsAsManyOfOneGuestAtOnceAsItMay) {
  for (int round = 0; round < 200; ++round) {
    Executor::Share share;
    Executor executor(3);
    ASSERT_TRUE(Meet(executor, share, 2)) << round;
    ASSERT_TRUE(Meet(executor, share, 3)) << round;
  }
}

// Whatever a thread of the parent held at that moment.
TEST(Executor, AForkedProcessIsRefused) {
  Executor::Share share, other;
  Executor executor(1);
  std::jthread busy([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) EXPECT_TRUE(executor.Begin(share, [] {}).ok());
  });
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(Meet(executor, other, 1));
    ASSERT_TRUE(wasinn::testing::IsTrueInAFork([&] {
      const bool refused = executor.Begin(other, [] {}).code() == WASINN_LOST;
      executor.RunWaiting(share);
      return refused;
    })) << "fork "
        << i;
  }
  busy.request_stop();
  busy.join();
  ASSERT_TRUE(Meet(executor, share, 1)) << "after all that are waiting";
}

}  // namespace
}  // namespace wasinn::core
