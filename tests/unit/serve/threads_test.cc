// Who computes where, who waits, and for how long.
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "serve/cancellation.h"
#include "serve/fair_queue.h"
#include "serve/inline_permits.h"
#include "serve/inline_turns.h"
#include "serve/pace.h"
#include "serve/quick_lane.h"
#include "serve/standby.h"
#include "serve/workers.h"

namespace wasinn::serve {
namespace {

using std::chrono::milliseconds;

const Share kAnybody;

Workers::Job Running(std::function<void()> run) { return {std::move(run), nullptr, &kAnybody}; }

// What became of some jobs.
class Ends {
 public:
  Workers::Job Job(const Cancellation* cancellation = nullptr, const Share& share = kAnybody) {
    return {[this] { ++n_run_; }, [this](const Failure& failure) { refused_.push_back(failure.code); }, &share,
            cancellation};
  }
  int n_run() const { return n_run_; }
  const std::vector<wasinn_code>& refused() const { return refused_; }

 private:
  std::atomic<int> n_run_{0};
  std::vector<wasinn_code> refused_;
};

using Codes = std::vector<wasinn_code>;

// Until another thread has done it.
void Await(const auto& is_done) {
  while (!is_done()) std::this_thread::yield();
}

// Nothing that waits moves by itself where there are no threads.
TEST(Workers, TakeAsManyAsMayWait) {
  Ends ends;
  Workers workers({.threads = 0, .most = 2});
  EXPECT_TRUE(workers.Begin(ends.Job()));
  EXPECT_TRUE(workers.Begin(ends.Job()));
  EXPECT_FALSE(workers.Begin(ends.Job()));
  workers.Sweep();
  EXPECT_EQ(ends.refused(), Codes());
  workers.Stop();
  EXPECT_EQ(ends.refused(), Codes(2, WASINN_ERROR_BUSY));
  EXPECT_FALSE(workers.Begin(ends.Job()));
  EXPECT_EQ(ends.n_run(), 0);
}

TEST(Workers, OneThatRunsIsOneOfThem) {
  std::promise<void> begun, end;
  Ends ends;
  Workers workers({.threads = 1, .most = 1});
  EXPECT_TRUE(workers.Begin(Running([&] {
    begun.set_value();
    end.get_future().wait();
  })));
  begun.get_future().wait();
  EXPECT_FALSE(workers.Begin(ends.Job()));
  end.set_value();
  Await([&] { return workers.Begin(ends.Job()); });
  Await([&] { return ends.n_run() == 1; });
}

TEST(Workers, RefuseWhoHasWaitedForTooLong) {
  Ends ends;
  Workers workers({.threads = 0, .most = 2, .patience = milliseconds(0)});
  EXPECT_TRUE(workers.Begin(ends.Job()));
  EXPECT_EQ(ends.refused(), Codes());
  workers.Sweep();
  EXPECT_EQ(ends.refused(), Codes{WASINN_ERROR_BUSY});
}

TEST(Workers, RunNothingThatHasWaitedForTooLong) {
  std::promise<wasinn_code> refused;
  Workers workers({.threads = 1, .patience = milliseconds(0)});
  EXPECT_TRUE(workers.Begin(
      {[] { ADD_FAILURE(); }, [&](const Failure& failure) { refused.set_value(failure.code); }, &kAnybody}));
  EXPECT_EQ(refused.get_future().get(), WASINN_ERROR_BUSY);
}

TEST(Workers, RefuseWhomNobodyWaitsForAndNoOtherOne) {
  Ends ends;
  Cancellation first, second;
  Workers workers({.threads = 0});
  EXPECT_TRUE(workers.Begin(ends.Job(&first)));
  EXPECT_TRUE(workers.Begin(ends.Job(&second)));
  second.Cancel();
  workers.Sweep();
  EXPECT_EQ(ends.refused(), Codes{WASINN_ERROR_UNAVAILABLE});
  first.Cancel();
  workers.Sweep();
  EXPECT_EQ(ends.refused(), Codes(2, WASINN_ERROR_UNAVAILABLE));
}

TEST(Workers, GiveThePlaceOfWhomNobodyWaitsForToWhoComes) {
  Ends ends;
  Cancellation cancellation;
  Workers workers({.threads = 0, .most = 1});
  EXPECT_TRUE(workers.Begin(ends.Job(&cancellation)));
  EXPECT_FALSE(workers.Begin(ends.Job()));
  cancellation.Cancel();
  EXPECT_TRUE(workers.Begin(ends.Job()));
  EXPECT_EQ(ends.refused(), Codes{WASINN_ERROR_UNAVAILABLE});
}

TEST(Workers, GoOnAfterAJobThatThrows) {
  std::promise<void> done;
  Workers workers({.threads = 1});
  EXPECT_TRUE(workers.Begin(Running([] { throw std::runtime_error("thrown by a test"); })));
  EXPECT_TRUE(workers.Begin(Running([&] { done.set_value(); })));
  done.get_future().wait();
}

// What one that is awaited ended in. The context, which does not end meanwhile, outlives the workers, which tell it.
Outcome<int> Do(asio::io_context& context, Workers& workers, std::function<int()> work,
                const Cancellation* cancellation = nullptr) {
  std::optional<Outcome<int>> outcome;
  std::exception_ptr thrown;
  bool is_over = false;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> { outcome = co_await workers.Do<int>(std::move(work), kAnybody, cancellation); },
      [&](std::exception_ptr error) {
        thrown = error;
        is_over = true;
      });
  while (!is_over) context.run_one();
  if (thrown) std::rethrow_exception(thrown);
  return *outcome;
}

TEST(Workers, TellWhoAwaits) {
  asio::io_context context;
  const auto more_comes = asio::make_work_guard(context);
  Cancellation cancellation;
  Workers workers({.threads = 1});
  EXPECT_EQ(Do(context, workers, [] { return 7; }).value(), 7);
  EXPECT_THROW(Do(context, workers, []() -> int { throw std::runtime_error("thrown by a test"); }), std::runtime_error);
  cancellation.Cancel();
  EXPECT_EQ(Do(context, workers, [] { return 7; }, &cancellation).error().code, WASINN_ERROR_UNAVAILABLE);
  workers.Stop();
  EXPECT_EQ(Do(context, workers, [] { return 7; }).error().code, WASINN_ERROR_BUSY);
}

// In the order in which one thread ran them.
TEST(Workers, TakeTurnsByWeights) {
  std::string order;
  std::promise<void> begun, end, done;
  const Share light(1, false), heavy(2, false);
  Workers workers({.threads = 1});
  EXPECT_TRUE(workers.Begin(Running([&] {
    begun.set_value();
    end.get_future().wait();
  })));
  begun.get_future().wait();
  const auto begin = [&](const Share& share, char name) {
    EXPECT_TRUE(workers.Begin({[&order, name] { order += name; }, nullptr, &share}));
  };
  for (int i = 0; i < 6; ++i) begin(light, 'l');
  for (int i = 0; i < 6; ++i) begin(heavy, 'h');
  EXPECT_TRUE(workers.Begin({[&] { done.set_value(); }, nullptr, &light}));
  end.set_value();
  done.get_future().wait();
  EXPECT_EQ(order, "lhhlhhlhhlll");
}

TEST(Workers, MakeRoomForWhoHasLessWaiting) {
  Ends flood, others;
  const Share many(1, false), few(1, false);
  Workers workers({.threads = 0, .most = 4});
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(workers.Begin(flood.Job(nullptr, many)));
  EXPECT_FALSE(workers.Begin(flood.Job(nullptr, many)));
  EXPECT_TRUE(workers.Begin(others.Job(nullptr, few)));
  EXPECT_TRUE(workers.Begin(others.Job(nullptr, few)));
  EXPECT_EQ(flood.refused(), Codes(2, WASINN_ERROR_BUSY));
  EXPECT_FALSE(workers.Begin(others.Job(nullptr, few)));  // both have two
  EXPECT_EQ(flood.refused(), Codes(2, WASINN_ERROR_BUSY));
  EXPECT_EQ(others.refused(), Codes());
}

// Jobs of some places that stand still until they may go on.
class Standing {
 public:
  Workers::Job Job(Place place, const Share& share = kAnybody) {
    return {[this] {
              ++n_standing_;
              may_go_on_.wait(false);
            },
            [](const Failure&) {}, &share, nullptr, place};
  }
  int n_standing() const { return n_standing_; }
  void GoOn() {
    may_go_on_ = true;
    may_go_on_.notify_all();
  }

 private:
  std::atomic<int> n_standing_{0};
  std::atomic<bool> may_go_on_{false};
};

constexpr Place kSlow = 3, kOther = 5;

TEST(Workers, OnePlaceLeavesThreadsForOthers) {
  Standing standing;
  Workers workers({.threads = 4});
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(workers.Begin(standing.Job(kSlow)));
  Await([&] { return standing.n_standing() == 4; });  // its own, and three quarters of those that are shared
  for (int i = 0; i < 8; ++i) {
    std::promise<void> done;
    EXPECT_TRUE(
        workers.Begin({[&] { done.set_value(); }, nullptr, &kAnybody, nullptr, i % 2 == 0 ? kNoPlace : kOther}));
    done.get_future().wait();
  }
  EXPECT_EQ(standing.n_standing(), 4);
  standing.GoOn();
  Await([&] { return standing.n_standing() == 20; });
}

TEST(Workers, EachPlaceHasAThreadHoweverManyStandStill) {
  Standing standing;
  const Share busy(1, false), other(1, false);
  Workers workers({.threads = 2});
  for (Place place = 1; place <= 40; ++place) {
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(workers.Begin(standing.Job(place, busy)));
  }
  Await([&] { return standing.n_standing() >= 40; });
  std::promise<void> own, shared;
  EXPECT_TRUE(workers.Begin({[&] { own.set_value(); }, nullptr, &busy, nullptr, 41}));
  own.get_future().wait();
  EXPECT_TRUE(
      workers.Begin({[&] { shared.set_value(); }, nullptr, &other, nullptr, 2}));  // whose own thread stands still
  shared.get_future().wait();
  standing.GoOn();
}

TEST(Workers, WithoutSharedThreadsDoOneJobOfAPlaceAtATime) {
  Standing standing;
  Workers workers({.threads = 0});
  EXPECT_TRUE(workers.Begin(standing.Job(kSlow)));
  EXPECT_TRUE(workers.Begin(standing.Job(kSlow)));
  EXPECT_TRUE(workers.Begin(standing.Job(kOther)));
  Await([&] { return standing.n_standing() == 2; });
  EXPECT_EQ(workers.Look().waiting, 1);
  standing.GoOn();
  Await([&] { return standing.n_standing() == 3; });
}

TEST(Workers, WhatWaitsOfOnePlaceLeavesRoomForOthers) {
  Standing standing;
  Workers workers({.threads = 0, .most = 8});
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(workers.Begin(standing.Job(kSlow)));
  EXPECT_FALSE(workers.Begin(standing.Job(kSlow)));
  EXPECT_TRUE(workers.Begin(standing.Job(kOther)));  // its first
  EXPECT_TRUE(workers.Begin(standing.Job(kOther)));
  EXPECT_TRUE(workers.Begin(standing.Job(7)));
  EXPECT_TRUE(workers.Begin(standing.Job(7)));
  EXPECT_FALSE(workers.Begin(standing.Job(7)));  // the slow place has no more than three quarters
  EXPECT_EQ(workers.Look().waiting + workers.Look().running, 10);
  standing.GoOn();
}

TEST(FairQueue, HoldsNothingAgainstWhoWasServedBefore) {
  const Share one(1, false), other(1, false);
  FairQueue<int> queue;
  queue.Push(FairQueue<int>::Make(1), one);
  queue.Push(FairQueue<int>::Make(2), one);
  EXPECT_EQ(queue.PopFirst().mapped().value, 1);
  EXPECT_EQ(queue.PopFirst().mapped().value, 2);
  queue.Push(FairQueue<int>::Make(3), one);  // nobody waited meanwhile
  queue.Push(FairQueue<int>::Make(4), other);
  EXPECT_EQ(queue.PopFirst().mapped().value, 3);
  EXPECT_EQ(queue.PopFirst().mapped().value, 4);
}

TEST(FairQueue, WhatWasNotServedTookNoTurn) {
  const Share one(1, false), other(1, false);
  FairQueue<int> queue;
  for (int i = 0; i < 100; ++i) queue.Push(FairQueue<int>::Make(i), one);
  queue.Push(FairQueue<int>::Make(1000), other);
  queue.Push(FairQueue<int>::Make(1001), other);
  FairQueue<int>::Items removed;
  queue.Remove([](int i) { return i < 99; }, removed);
  EXPECT_EQ(removed.size(), 99);
  EXPECT_EQ(queue.PopFirst().mapped().value, 1000);
  EXPECT_EQ(queue.PopFirst().mapped().value, 99);
  queue.Push(FairQueue<int>::Make(100), one);
  EXPECT_EQ(queue.PopFirst().mapped().value, 1001);
  EXPECT_EQ(queue.PopFirst().mapped().value, 100);
  EXPECT_TRUE(queue.empty());
}

// Which run until they are told to end, while others wait.
TEST(Workers, LeaveTheLastQuarterToWhoHasNone) {
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  std::atomic<int> n_many = 0, n_few = 0;
  const Share many(1, false), few(1, false);
  Workers workers({.threads = 4});
  const auto begin = [&](const Share& share, std::atomic<int>& n) {
    EXPECT_TRUE(workers.Begin({[&n, ended] {
                                 ++n;
                                 ended.wait();
                               },
                               nullptr, &share}));
  };
  for (int i = 0; i < 8; ++i) begin(many, n_many);
  Await([&] { return n_many == 3; });
  begin(few, n_few);
  Await([&] { return n_few == 1; });
  EXPECT_EQ(n_many, 3);
  end.set_value();
  Await([&] { return n_many == 8; });
}

TEST(QuickLane, RunsOnTheThreadThatCalls) {
  Workers workers({.threads = 0});
  QuickLane lane(2, workers);
  std::thread::id ran_on;
  EXPECT_TRUE(lane.Run(Running([&] { ran_on = std::this_thread::get_id(); })));
  EXPECT_EQ(ran_on, std::this_thread::get_id());
}

TEST(QuickLane, LeavesOneThreadFree) {
  Ends ends;
  Workers full({.threads = 0, .most = 0}), workers({.threads = 1});
  EXPECT_FALSE(QuickLane(1, full).Run(ends.Job()));
  EXPECT_TRUE(QuickLane(1, workers).Run(ends.Job()));
  Await([&] { return ends.n_run() == 1; });
}

// Here, or by the workers where the first one took longer than what is quick.
TEST(QuickLane, RunsOnceWhatComesWhileAnotherOneRuns) {
  Ends ends;
  Workers workers({.threads = 1});
  QuickLane lane(2, workers);
  EXPECT_TRUE(lane.Run(Running([&] {
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(lane.Run(ends.Job()));
  })));
  Await([&] { return ends.n_run() == 100; });
  EXPECT_TRUE(lane.Run(ends.Job()));
  EXPECT_EQ(ends.n_run(), 101);
}

TEST(QuickLane, GivesTheWorkersWhatWaitsBehindSomethingSlow) {
  Ends ends;
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

TEST(QuickLane, RefusesWhatWaitsBehindSomethingSlowWhereTheWorkersHaveNoPlace) {
  Ends ends;
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

TEST(InlinePermits, AreAsManyAsMayBe) {
  InlinePermits permits(2);
  auto one = permits.Take();
  {
    const auto other = permits.Take();
    EXPECT_TRUE(one && other);
    EXPECT_FALSE(permits.Take());
  }
  const auto again = permits.Take();
  EXPECT_TRUE(again);
  const InlinePermits::Permit moved(std::move(*one));
  one.reset();
  EXPECT_FALSE(permits.Take());  // the one that was moved is held
  EXPECT_FALSE(InlinePermits(0).Take());
}

// In a context of one thread: what has come meanwhile is read before the next turn.
TEST(InlineTurns, AreTakenOneBetweenTwoLooks) {
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

TEST(Standby, RunsWhatComesWhileAllOthersCompute) {
  asio::io_context context;
  auto work = asio::make_work_guard(context);
  InlinePermits permits(1);
  const Standby standby(context, permits);
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

TEST(Standby, EndsWhereNothingIsComputed) {
  asio::io_context context;
  InlinePermits permits(1);
  const Standby standby(context, permits);
}

TEST(Pace, GivesTimeForEachByte) {
  Pace pace(milliseconds(1000));
  const auto first = pace.deadline();
  EXPECT_GT(first, Pace::Clock::now() - milliseconds(1));
  pace.Add(99);
  EXPECT_EQ(pace.deadline(), first);
  EXPECT_EQ(pace.DeadlineOf(100), first + milliseconds(1));
  EXPECT_EQ(pace.DeadlineOf(uint64_t{1} << 30), first + milliseconds((1 << 30) / 100));
}

TEST(Pace, GivesWhoWasQuickNoMoreTimeToStandStill) {
  Pace pace(milliseconds(1000));
  pace.Add(uint64_t{1} << 30);
  EXPECT_LE(pace.deadline(), Pace::Clock::now() + milliseconds(1000));
}

TEST(Cancellation, StopsOnceWhatRuns) {
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

TEST(Cancellation, StopsAtOnceWhatBeginsAfterIt) {
  bool stopped = false;
  Cancellation cancellation;
  cancellation.Cancel();
  const Cancellation::Stop stop(&cancellation, [&] { stopped = true; });
  EXPECT_TRUE(stopped);
  const Cancellation::Stop nobodys(nullptr, [] { ADD_FAILURE(); });
}

}  // namespace
}  // namespace wasinn::serve
