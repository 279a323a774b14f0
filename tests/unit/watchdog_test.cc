#include "core/runtime/watchdog.h"
#include "support/test.h"

namespace wasinn::core {
namespace {

using std::chrono::milliseconds;

// Runs until something happens; a test that waits for ever fails by its own time limit.
template <typename Condition>
void WaitFor(Condition&& condition) {
  while (!condition()) std::this_thread::yield();
}

class WatchdogTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(dog_.Start().ok()); }
  // Until it has looked twice at what runs.
  void AwaitLook() {
    const uint64_t scans = dog_.scans();
    WaitFor([&] { return dog_.scans() >= scans + 2; });
  }
  Clock::Hands hands_;
  Watchdog dog_{Watchdog::StartUsualThread, Clock(hands_)};
};

TEST_F(WatchdogTest, CancelsARunThatIsOverdue) {
  std::atomic<bool> cancelled{false};
  Watched watched(dog_, milliseconds(30), [&] { cancelled = true; });
  Watched::Run run(watched);
  AwaitLook();
  hands_.Turn(milliseconds(29));
  AwaitLook();
  EXPECT_FALSE(cancelled);
  hands_.Turn(milliseconds(1));
  WaitFor([&] { return cancelled.load(); });
  EXPECT_TRUE(run.End());
  EXPECT_FALSE(Watched::Run(watched).End()) << "the next run is another one";
}

// The deadline is for one run, not for a row of them.
TEST_F(WatchdogTest, MeasuresEachRunFromItsBeginning) {
  std::atomic<bool> cancelled{false};
  Watched watched(dog_, milliseconds(30), [&] { cancelled = true; });
  for (int i = 0; i < 3; ++i) {
    Watched::Run run(watched);
    AwaitLook();
    hands_.Turn(milliseconds(29));
    AwaitLook();
    EXPECT_FALSE(run.End());
  }
  EXPECT_FALSE(cancelled);
}

TEST_F(WatchdogTest, CancelForGoodEndsTheCurrentAndLaterRuns) {
  std::atomic<int> cancels{0};
  {
    Watched watched(dog_, milliseconds(0), [&] { ++cancels; });
    const Watched::Run run(watched);
    watched.CancelForGood();
    EXPECT_GE(cancels, 1) << "at once";
  }
  cancels = 0;
  Watched watched(dog_, milliseconds(0), [&] { ++cancels; });
  watched.CancelForGood();
  EXPECT_EQ(cancels, 0) << "nothing runs";
  for (int i = 0; i < 2; ++i) {
    const int before = cancels;
    Watched::Run run(watched);
    WaitFor([&] { return cancels > before; });
    EXPECT_FALSE(run.End());  // not overdue: cancelled
  }
}

// Its run may end before the watchdog looks again: nothing else ends a guest's run.
TEST_F(WatchdogTest, ACancelForGoodWhileTheWatchdogCancelsIsNotLost) {
  std::vector<uint64_t> looks;  // of the watchdog, in which it cancelled
  std::atomic<bool> cancels{false}, is_for_good{false};
  Watched watched(dog_, milliseconds(30), [&] {
    looks.push_back(dog_.scans());
    cancels = true;
    WaitFor([&] { return is_for_good.load(); });
  });
  Watched::Run run(watched);
  AwaitLook();
  hands_.Turn(milliseconds(30));
  WaitFor([&] { return cancels.load(); });
  watched.CancelForGood();
  is_for_good = true;
  EXPECT_TRUE(run.End());
  ASSERT_GE(looks.size(), 2u);
  EXPECT_EQ(looks[1], looks[0]) << "at once, and not when it looks again";
}

TEST_F(WatchdogTest, AStopFlagCancels) {
  std::atomic<bool> stop{false}, cancelled{false};
  Watched watched(dog_, milliseconds(0), [&] { cancelled = true; }, &stop);
  Watched::Run run(watched);
  stop = true;
  WaitFor([&] { return cancelled.load(); });
}

// A run's end waits for a cancel that is under way, and none comes later: what it would reach may be gone.
TEST_F(WatchdogTest, NothingIsCancelledAfterARunsEnd) {
  std::shared_ptr<std::atomic<int>> alive;
  std::atomic<bool> stop{true};
  Watched watched(dog_, milliseconds(0), [&] { alive->fetch_add(1); }, &stop);
  for (int i = 0; i < 12; ++i) {
    alive = std::make_shared<std::atomic<int>>(0);
    Watched::Run run(watched);
    const uint64_t scans = dog_.scans();
    WaitFor([&] { return dog_.scans() >= scans + static_cast<uint64_t>(i % 4); });
    run.End();
    alive.reset();  // the sanitizers see a cancel that comes too late
  }
}

TEST_F(WatchdogTest, ARunsEndWaitsForItsCancel) {
  std::atomic<bool> inside{false}, let_go{false}, left{false};
  Watched watched(dog_, milliseconds(0), [&] {
    inside = true;
    WaitFor([&] { return let_go.load(); });
    EXPECT_FALSE(left);
  });
  std::thread canceller, ender;
  {
    auto run = std::make_unique<Watched::Run>(watched);
    canceller = std::thread([&] { watched.CancelForGood(); });
    WaitFor([&] { return inside.load(); });
    ender = std::thread([&, run = std::move(run)] {
      run->End();
      left = true;
    });
  }
  let_go = true;
  ender.join();
  canceller.join();
}

// A slow cancel holds up no run that begins, ends or is made in the meantime.
TEST_F(WatchdogTest, ACancelThatBlocksHoldsUpNoOther) {
  std::atomic<bool> inside{false}, let_go{false};
  std::atomic<bool> stop{true};
  Watched stuck(
      dog_, milliseconds(0),
      [&] {
        inside = true;
        WaitFor([&] { return let_go.load(); });
      },
      &stop);
  Watched::Run run(stuck);
  WaitFor([&] { return inside.load(); });
  ASSERT_TRUE(dog_.Start().ok());
  for (int i = 0; i < 100; ++i) {
    Watched other(dog_, milliseconds(1000), [] {});
    EXPECT_FALSE(Watched::Run(other).End());
  }
  let_go = true;
}

// Idle objects cost nothing, and after the last run there are no wake-ups.
TEST_F(WatchdogTest, SleepsWhenNothingRuns) {
  std::atomic<bool> stop{true};
  std::vector<std::unique_ptr<Watched>> idle;
  for (int round = 0; round < 2; ++round) {
    WaitFor([&] { return dog_.asleep(); });
    const uint64_t scans = dog_.scans();
    for (int i = 0; i < 100; ++i) idle.push_back(std::make_unique<Watched>(dog_, milliseconds(1), [] {}, &stop));
    std::this_thread::sleep_for(3 * Watchdog::kScan);  // no synchronisation: a chance to be wrong
    EXPECT_EQ(dog_.scans(), scans);
    std::atomic<bool> cancelled{false};
    Watched watched(dog_, milliseconds(0), [&] { cancelled = true; }, &stop);
    Watched::Run run(watched);
    WaitFor([&] { return cancelled.load(); });
    EXPECT_FALSE(dog_.asleep());
  }
}

// Many threads with many runs each, while it falls asleep and wakes, and others cancel: the sanitizers look.
TEST_F(WatchdogTest, ManyAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        auto in_reach = std::make_unique<int>(0);
        Watched watched(dog_, milliseconds(t), [&] { ++*in_reach; });
        std::thread canceller;
        if (i % 5 == 0) canceller = std::thread([&] { watched.CancelForGood(); });
        for (int k = 0; k < 50; ++k) {
          Watched::Run run(watched);
          if (k % 16 != 0) continue;
          hands_.Turn(milliseconds(1));
          std::this_thread::sleep_for(milliseconds(1));
        }
        if (canceller.joinable()) canceller.join();
        in_reach.reset();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  WaitFor([&] { return dog_.asleep(); });
}

// Else there would be more and more slots.
TEST(RunSlot, IsTakenWhenItIsForgottenInThisMoment) {
  Watchdog dog;
  const Watched watched(dog, milliseconds(0), [] {});
  RunSlot slot;
  std::atomic<bool> done{false};
  std::thread scans([&] {
    while (!done) slot.Forget();
  });
  int refused = 0;
  for (int i = 0; i < 300'000; ++i) {
    if (slot.Take(watched)) {
      EXPECT_TRUE(slot.Leave(watched));
    } else {
      ++refused;
    }
  }
  done = true;
  scans.join();
  EXPECT_EQ(refused, 0);
}

TEST(Watchdog, AThreadThatCannotBeStartedIsAnError) {
  bool may_start = false;
  Watchdog dog([&](std::function<void()> run) {
    if (!may_start) throw std::system_error(EAGAIN, std::generic_category());
    return std::thread(std::move(run));
  });
  const Status status = dog.Start();
  EXPECT_EQ(status.code(), WASINN_ERROR_RUNTIME);
  EXPECT_NE(status.message().find("temporarily unavailable"), std::string_view::npos) << status.message();
  may_start = true;
  EXPECT_TRUE(dog.Start().ok()) << "the next guest may have more luck";
  std::atomic<bool> cancelled{false};  // by a deadline of the system's clock
  Watched watched(dog, milliseconds(1), [&] { cancelled = true; });
  Watched::Run run(watched);
  WaitFor([&] { return cancelled.load(); });
}

}  // namespace
}  // namespace wasinn::core
