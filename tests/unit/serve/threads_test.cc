// The threads of computes, and their waits.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>

#include "serve/http/min_data_rate.h"
#include "serve/threads/cancellation.h"
#include "serve/threads/quick_computes.h"
#include "serve/threads/workers.h"
#include "support/test.h"
#include "unit/serve/jobs.h"

namespace wasinn::serve {
namespace {

using std::chrono::milliseconds;

TEST(QuickLane, RunsOnTheCallingThread) {
  Workers workers({.threads = 0});
  QuickLane lane(2, workers);
  std::thread::id ran_on;
  EXPECT_TRUE(lane.Run(Running([&] { ran_on = std::this_thread::get_id(); })));
  EXPECT_EQ(ran_on, std::this_thread::get_id());
}

TEST(QuickLane, LeavesOneThreadFree) {
  JobEnds ends;
  Workers full({.threads = 0, .most = 0}), workers({.threads = 1});
  EXPECT_FALSE(QuickLane(1, full).Run(ends.Job()));
  EXPECT_TRUE(QuickLane(1, workers).Run(ends.Job()));
  Await([&] { return ends.n_run() == 1; });
}

// Here, or by the workers where the first one took longer than what is quick.
TEST(QuickLane, RunsAJobAfterARunningOne) {
  JobEnds ends;
  Workers workers({.threads = 1});
  QuickLane lane(2, workers);
  EXPECT_TRUE(lane.Run(Running([&] {
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(lane.Run(ends.Job()));
  })));
  Await([&] { return ends.n_run() == 100; });
  EXPECT_TRUE(lane.Run(ends.Job()));
  EXPECT_EQ(ends.n_run(), 101);
}

TEST(QuickLane, HandsJobsBehindASlowOneToTheWorkers) {
  JobEnds ends;
  Workers workers({.threads = 1});
  QuickLane lane(2, workers);
  EXPECT_TRUE(lane.Run(Running([&] {
    EXPECT_TRUE(lane.Run(ends.Job()));
    Await([&] {
      lane.Sweep();
      return ends.n_run() == 1;
    });
  })));
}

TEST(QuickLane, RefusesJobsBehindASlowOneIfTheWorkersAreFull) {
  JobEnds ends;
  Workers full({.threads = 0, .most = 0});
  QuickLane lane(2, full);
  EXPECT_TRUE(lane.Run(Running([&] {
    if (!lane.Run(ends.Job())) return;  // this thread stood still
    Await([&] {
      lane.Sweep();
      return !ends.refused().empty();
    });
    EXPECT_EQ(ends.refused(), Codes{WASINN_ERROR_BUSY});
  })));
  EXPECT_EQ(ends.n_run(), 0);
}

TEST(InlinePermits, AreLimited) {
  InlinePermits permits(2);
  auto one = permits.Take();
  {
    const auto other = permits.Take();
    EXPECT_TRUE(one && other);
    EXPECT_FALSE(permits.Take());
  }
  const auto again = permits.Take();
  EXPECT_TRUE(again);
  const InlinePermits::Permit moved(std::move(one));
  one.reset();
  EXPECT_FALSE(permits.Take());  // the one that was moved is held
  EXPECT_FALSE(InlinePermits(0).Take());
}

// In a context of one thread: what has come in the meantime is read before the next turn.
TEST(InlineTurns, RunOneRequestBetweenTwoLooks) {
  std::string order;
  asio::io_context context;
  InlineTurns turns(context, 1);
  const Share many(1, false), few(1, false);
  const auto ask = [&](const Share& share, char name) {
    asio::co_spawn(
        context,
        [&turns, &order, &share, name]() -> asio::awaitable<void> {
          co_await turns.Await(share);
          order += name;
        },
        asio::detached);
  };
  for (int i = 0; i < 4; ++i) ask(many, 'm');
  asio::post(context, [&] { asio::post(context, [&] { asio::post(context, [&] { ask(few, 'f'); }); }); });
  context.run();
  EXPECT_EQ(order.size(), 5);
  EXPECT_LT(order.find('f'), 4) << order;
}

TEST(IdleWorker, RunsWhileAllOthersCompute) {
  asio::io_context context;
  auto work = asio::make_work_guard(context);
  InlinePermits permits(1);
  const IdleWorker idle_worker(context, permits);
  std::function<void(int)> compute = [&](int left) {
    std::promise<void> other_ran;
    {
      const auto permit = permits.Take();
      EXPECT_TRUE(permit);
      asio::post(context, [&] { other_ran.set_value(); });
      other_ran.get_future().wait();
    }
    left > 0 ? asio::post(context, [&, left] { compute(left - 1); }) : work.reset();
  };
  asio::post(context, [&] { compute(1); });
  context.run();
}

TEST(IdleWorker, EndsWithoutAnyCompute) {
  asio::io_context context;
  InlinePermits permits(1);
  const IdleWorker idle_worker(context, permits);
}

TEST(MinDataRate, GivesTimeForEachByte) {
  const auto begun = MinDataRate::Clock::now();
  MinDataRate min_rate(milliseconds(1000));
  const auto first = min_rate.deadline();
  EXPECT_GE(first, begun + milliseconds(1000));
  min_rate.Add(99);
  EXPECT_EQ(min_rate.deadline(), first);
  EXPECT_EQ(min_rate.DeadlineOf(100), first + milliseconds(1));
  EXPECT_EQ(min_rate.DeadlineOf(uint64_t{1} << 30), first + milliseconds((1 << 30) / 100));
}

TEST(MinDataRate, GivesWhoWasQuickNoMoreTimeToStandStill) {
  MinDataRate min_rate(milliseconds(1000));
  min_rate.Add(uint64_t{1} << 30);
  EXPECT_LE(min_rate.deadline(), MinDataRate::Clock::now() + milliseconds(1000));
}

TEST(Cancellation, StopsARunningCallOnce) {
  int n_stopped = 0;
  Cancellation cancellation;
  {
    const Cancellation::Stop gone(&cancellation, [] { ADD_FAILURE(); });
  }
  const Cancellation::Stop stop(&cancellation, [&] { ++n_stopped; });
  EXPECT_FALSE(cancellation.is_cancelled());
  cancellation.Cancel();
  cancellation.Cancel();
  EXPECT_TRUE(cancellation.is_cancelled());
  EXPECT_EQ(n_stopped, 1);
}

TEST(Cancellation, StopsALaterCallAtOnce) {
  bool stopped = false;
  Cancellation cancellation;
  cancellation.Cancel();
  const Cancellation::Stop stop(&cancellation, [&] { stopped = true; });
  EXPECT_TRUE(stopped);
  const Cancellation::Stop nobodys(nullptr, [] { ADD_FAILURE(); });
}

}  // namespace
}  // namespace wasinn::serve
