#include "common/cancel_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace wasinn::backend {
namespace {

TEST(CancelGate, DoesNothingWhereNothingRuns) {
  CancelGate gate;
  int interrupts = 0;
  gate.Cancel([&] { ++interrupts; });
  gate.Enter();
  EXPECT_FALSE(gate.cancelled());
  EXPECT_FALSE(gate.Leave());
  gate.Cancel([&] { ++interrupts; });
  EXPECT_EQ(interrupts, 0);
  gate.Enter();
  EXPECT_FALSE(gate.Leave()) << "a cancel after the end reached the next operation";
}

TEST(CancelGate, InterruptsWhatRunsAgainAndAgain) {
  CancelGate gate;
  int interrupts = 0;
  gate.Enter();
  gate.Cancel([&] { ++interrupts; });
  gate.Cancel([&] { ++interrupts; });
  EXPECT_TRUE(gate.cancelled());
  EXPECT_TRUE(gate.Leave());
  EXPECT_EQ(interrupts, 2);
  gate.Enter();
  EXPECT_FALSE(gate.Leave());
}

// `flag` is the framework's, plain memory that nobody may touch once Leave has returned: a thread sanitizer watches.
TEST(CancelGate, TouchesTheFrameworkOnlyInside) {
  CancelGate gate;
  int flag = 0;
  std::atomic<bool> done = false;
  std::thread watchdog([&] {
    while (!done) gate.Cancel([&] { flag = 1; });
  });
  for (int cancelled = 0, i = 0; cancelled < 100; ++i) {
    ASSERT_EQ(flag, 0);
    gate.Enter();
    if (i % 4 == 0) std::this_thread::yield();
    if (gate.Leave()) {
      ASSERT_EQ(flag, 1);
      flag = 0;
      ++cancelled;
    }
  }
  done = true;
  watchdog.join();
}

}  // namespace
}  // namespace wasinn::backend
