// Who computes where, who waits, and for how long.
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
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
#include "serve/inline_permits.h"
#include "serve/pace.h"
#include "serve/quick_lane.h"
#include "serve/workers.h"

namespace wasinn::serve {
namespace {

using std::chrono::milliseconds;

// What became of some jobs.
class Ends {
 public:
  Workers::Job Job(const Cancellation* cancellation = nullptr) {
    return {[this] { ++n_run_; }, [this](const Failure& failure) { refused_.push_back(failure.code); }, cancellation};
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
  EXPECT_EQ(ends.refused(), Codes(2, WASINN_BUSY));
  EXPECT_FALSE(workers.Begin(ends.Job()));
  EXPECT_EQ(ends.n_run(), 0);
}

TEST(Workers, OneThatRunsIsOneOfThem) {
  std::promise<void> begun, end;
  Ends ends;
  Workers workers({.threads = 1, .most = 1});
  EXPECT_TRUE(workers.Begin({[&] {
                               begun.set_value();
                               end.get_future().wait();
                             },
                             nullptr}));
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
  EXPECT_EQ(ends.refused(), Codes{WASINN_BUSY});
}

TEST(Workers, RunNothingThatHasWaitedForTooLong) {
  std::promise<wasinn_code> refused;
  Workers workers({.threads = 1, .patience = milliseconds(0)});
  EXPECT_TRUE(workers.Begin(
      {[] { ADD_FAILURE(); }, [&](const Failure& failure) { refused.set_value(failure.code); }, nullptr}));
  EXPECT_EQ(refused.get_future().get(), WASINN_BUSY);
}

TEST(Workers, RefuseWhomNobodyWaitsForAndNoOtherOne) {
  Ends ends;
  Cancellation first, second;
  Workers workers({.threads = 0});
  EXPECT_TRUE(workers.Begin(ends.Job(&first)));
  EXPECT_TRUE(workers.Begin(ends.Job(&second)));
  second.Cancel();
  workers.Sweep();
  EXPECT_EQ(ends.refused(), Codes{WASINN_UNAVAILABLE});
  first.Cancel();
  workers.Sweep();
  EXPECT_EQ(ends.refused(), Codes(2, WASINN_UNAVAILABLE));
}

TEST(Workers, GiveThePlaceOfWhomNobodyWaitsForToWhoComes) {
  Ends ends;
  Cancellation cancellation;
  Workers workers({.threads = 0, .most = 1});
  EXPECT_TRUE(workers.Begin(ends.Job(&cancellation)));
  EXPECT_FALSE(workers.Begin(ends.Job()));
  cancellation.Cancel();
  EXPECT_TRUE(workers.Begin(ends.Job()));
  EXPECT_EQ(ends.refused(), Codes{WASINN_UNAVAILABLE});
}

TEST(Workers, GoOnAfterAJobThatThrows) {
  std::promise<void> done;
  Workers workers({.threads = 1});
  EXPECT_TRUE(workers.Begin({[] { throw std::runtime_error("thrown by a test"); }, nullptr}));
  EXPECT_TRUE(workers.Begin({[&] { done.set_value(); }, nullptr}));
  done.get_future().wait();
}

// What one that is awaited ended in. The context, which does not end meanwhile, outlives the workers, which tell it.
Outcome<int> Do(asio::io_context& context, Workers& workers, std::function<int()> work,
                const Cancellation* cancellation = nullptr) {
  std::optional<Outcome<int>> outcome;
  std::exception_ptr thrown;
  bool is_over = false;
  asio::co_spawn(
      context, [&]() -> asio::awaitable<void> { outcome = co_await workers.Do<int>(std::move(work), cancellation); },
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
  EXPECT_EQ(Do(context, workers, [] { return 7; }, &cancellation).error().code, WASINN_UNAVAILABLE);
  workers.Stop();
  EXPECT_EQ(Do(context, workers, [] { return 7; }).error().code, WASINN_BUSY);
}

TEST(QuickLane, RunsOnTheThreadThatCalls) {
  Workers workers({.threads = 0});
  QuickLane lane(2, workers);
  std::thread::id ran_on;
  EXPECT_TRUE(lane.Run({[&] { ran_on = std::this_thread::get_id(); }, nullptr}));
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
  EXPECT_TRUE(lane.Run({[&] {
                          for (int i = 0; i < 100; ++i) EXPECT_TRUE(lane.Run(ends.Job()));
                        },
                        nullptr}));
  Await([&] { return ends.n_run() == 100; });
  EXPECT_TRUE(lane.Run(ends.Job()));
  EXPECT_EQ(ends.n_run(), 101);
}

TEST(QuickLane, GivesTheWorkersWhatWaitsBehindSomethingSlow) {
  Ends ends;
  Workers workers({.threads = 1});
  QuickLane lane(2, workers);
  EXPECT_TRUE(lane.Run({[&] {
                          EXPECT_TRUE(lane.Run(ends.Job()));
                          Await([&] {
                            lane.Sweep();
                            return ends.n_run() == 1;
                          });
                        },
                        nullptr}));
}

TEST(QuickLane, RefusesWhatWaitsBehindSomethingSlowWhereTheWorkersHaveNoPlace) {
  Ends ends;
  Workers full({.threads = 0, .most = 0});
  QuickLane lane(2, full);
  EXPECT_TRUE(lane.Run({[&] {
                          if (!lane.Run(ends.Job())) return;  // this thread stood still
                          Await([&] {
                            lane.Sweep();
                            return !ends.refused().empty();
                          });
                          EXPECT_EQ(ends.refused(), Codes{WASINN_BUSY});
                        },
                        nullptr}));
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

TEST(Pace, GivesTimeForEachByte) {
  Pace pace(milliseconds(1000));
  const auto first = pace.deadline();
  EXPECT_GT(first, Pace::Clock::now() - milliseconds(1));
  pace.Add(99);
  EXPECT_EQ(pace.deadline(), first);
  pace.Add(1);
  EXPECT_EQ(pace.deadline(), first + milliseconds(1));
  pace.Add(uint64_t{1} << 30);
  EXPECT_EQ(pace.deadline(), first + milliseconds(1 + (1 << 30) / 100));
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
