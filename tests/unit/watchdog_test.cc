#include "core/watchdog.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace wasinn::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Runs until cancelled; a test that waits for ever fails by its own time limit.
void RunUntil(const std::atomic<bool>& cancelled) {
  while (!cancelled.load()) std::this_thread::sleep_for(milliseconds(1));
}

TEST(Watchdog, CancelsARunThatIsOverdue) {
  Watchdog dog;
  std::atomic<bool> cancelled{false};
  Watched watched(milliseconds(30), [&] { cancelled = true; });
  const Watchdog::Watch watch(dog, watched);
  watched.Begin();
  RunUntil(cancelled);
  EXPECT_TRUE(watched.End());
}

TEST(Watchdog, LeavesShortRunsAlone) {
  Watchdog dog;
  std::atomic<int> cancels{0};
  Watched watched(milliseconds(60'000), [&] { ++cancels; });
  const Watchdog::Watch watch(dog, watched);
  for (int i = 0; i < 5; ++i) {
    watched.Begin();
    std::this_thread::sleep_for(milliseconds(15));
    EXPECT_FALSE(watched.End());
  }
  EXPECT_EQ(cancels, 0);
}

// The deadline is for one run, not for a row of them.
TEST(Watchdog, CountsEachRunAnew) {
  Watchdog dog;
  constexpr milliseconds kDeadline(200);
  Watched watched(kDeadline, [] {});
  const Watchdog::Watch watch(dog, watched);
  const auto start = steady_clock::now();
  while (steady_clock::now() - start < 3 * kDeadline) {
    const auto begin = steady_clock::now();
    watched.Begin();
    std::this_thread::sleep_for(milliseconds(2));
    const bool overdue = watched.End();
    // On a busy machine one run may be overdue indeed.
    EXPECT_FALSE(overdue && steady_clock::now() - begin < kDeadline);
  }
}

TEST(Watchdog, CancelForGoodEndsTheCurrentAndLaterRuns) {
  Watchdog dog;
  std::atomic<bool> cancelled{false};
  Watched watched(milliseconds(0), [&] { cancelled = true; });
  const Watchdog::Watch watch(dog, watched);
  watched.CancelForGood();
  for (int i = 0; i < 2; ++i) {
    cancelled = false;
    watched.Begin();
    RunUntil(cancelled);
    EXPECT_FALSE(watched.End());  // not overdue: cancelled
  }
}

TEST(Watchdog, AStopFlagCancels) {
  Watchdog dog;
  std::atomic<bool> stop{false}, cancelled{false};
  Watched watched(milliseconds(0), [&] { cancelled = true; }, &stop);
  const Watchdog::Watch watch(dog, watched);
  watched.Begin();
  stop = true;
  RunUntil(cancelled);
  watched.End();
}

TEST(Watchdog, NothingIsCancelledAfterTheWatchIsGone) {
  Watchdog dog;
  for (int i = 0; i < 50; ++i) {
    auto alive = std::make_unique<std::atomic<bool>>(false);
    Watched watched(milliseconds(1), [&] { alive->store(true); });
    auto watch = std::make_unique<Watchdog::Watch>(dog, watched);
    watched.Begin();
    std::this_thread::sleep_for(milliseconds(i % 13));
    watch.reset();
    alive.reset();  // the sanitizers see a cancel that comes too late
  }
}

}  // namespace
}  // namespace wasinn::core
