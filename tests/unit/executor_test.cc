// The number of threads for calls whose callers do not wait.
#include "core/runtime/executor.h"

#include "unit/forked.h"

namespace wasinn::core {
namespace {

// Lets jobs wait for each other.
class Meeting {
 public:
  explicit Meeting(int awaited) : awaited_(awaited) {}
  void Arrive() {
    std::unique_lock lock(mutex_);
    ++here_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return here_ >= awaited_; });
    ++left_;
    changed_.notify_all();
  }
  // Until all have left.
  void End() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return left_ == awaited_; });
  }

 private:
  const int awaited_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int here_ = 0, left_ = 0;
};

void Meet(Executor& executor, Executor::Share& share, int count) {
  Meeting meeting(count);
  for (int i = 0; i < count; ++i) EXPECT_TRUE(executor.Begin(share, [&meeting] { meeting.Arrive(); }).ok());
  meeting.End();
}

// Whether the threads of the first two have come to rest when the three begin is up to the system.
TEST(Executor, RunsAsManyOfOneGuestAtOnceAsItMay) {
  for (int round = 0; round < 200; ++round) {
    Executor::Share share;
    Executor executor(3);
    Meet(executor, share, 2);
    Meet(executor, share, 3);
  }
}

// Its lock is held at that moment.
TEST(Executor, AForkedProcessIsRefusedAndWaitsForNoLock) {
  Executor executor(1);
  Executor::Share other;
  int forks = 0;
  Executor::Share share([&] {  // called under the lock
    ++forks;
    EXPECT_TRUE(wasinn::testing::IsTrueInAFork([&] {
      const bool refused = executor.Begin(other, [] {}).code() == WASINN_ERROR_LOST;
      executor.EndWaiting(other);
      executor.RunWaiting(other);
      executor.RunEnds(other);
      return refused;
    }));
  });
  Meet(executor, share, 1);  // so that there is a thread
  Meeting meeting(1);
  executor.Begin(Executor::End(share, [&meeting] { meeting.Arrive(); }));
  meeting.End();
  EXPECT_EQ(forks, 1);
  Meet(executor, other, 1);
}

}  // namespace
}  // namespace wasinn::core
