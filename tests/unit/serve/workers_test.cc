// The choice of jobs and threads, waits and refusals.
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>

#include "serve/threads/cancellation.h"
#include "serve/threads/fair_queue.h"
#include "serve/threads/workers.h"
#include "support/test.h"
#include "unit/serve/jobs.h"

namespace wasinn::serve {
namespace {

using std::chrono::milliseconds;

// Nothing that waits moves by itself where there are no threads.
TEST(Workers, AcceptJobsUpToTheLimit) {
  JobEnds ends;
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

TEST(Workers, ARunningJobCountsForTheLimit) {
  std::promise<void> begun, end;
  JobEnds ends;
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

TEST(Workers, RefuseAJobThatHasWaitedTooLong) {
  JobEnds ends;
  Workers workers({.threads = 0, .most = 2, .patience = milliseconds(0)});
  EXPECT_TRUE(workers.Begin(ends.Job()));
  EXPECT_EQ(ends.refused(), Codes());
  workers.Sweep();
  EXPECT_EQ(ends.refused(), Codes{WASINN_ERROR_BUSY});
}

TEST(Workers, DoNotRunAJobThatHasWaitedTooLong) {
  std::promise<wasinn_code> refused;
  Workers workers({.threads = 1, .patience = milliseconds(0)});
  EXPECT_TRUE(workers.Begin(
      {[] { ADD_FAILURE(); }, [&](const Failure& failure) { refused.set_value(failure.code); }, &kAnybody}));
  EXPECT_EQ(refused.get_future().get(), WASINN_ERROR_BUSY);
}

TEST(Workers, RefuseOnlyCancelledJobs) {
  JobEnds ends;
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

TEST(Workers, ACancelledJobMakesRoomForANewOne) {
  JobEnds ends;
  Cancellation cancellation;
  Workers workers({.threads = 0, .most = 1});
  EXPECT_TRUE(workers.Begin(ends.Job(&cancellation)));
  EXPECT_FALSE(workers.Begin(ends.Job()));
  cancellation.Cancel();
  EXPECT_TRUE(workers.Begin(ends.Job()));
  EXPECT_EQ(ends.refused(), Codes{WASINN_ERROR_UNAVAILABLE});
}

// Frameworks keep caches for each thread that has computed.
TEST(Workers, GiveTheNextJobToTheIdleThreadThatHadOneLast) {
  constexpr size_t kThreads = 4;
  Workers workers({.threads = kThreads});
  std::thread::id last;
  for (int i = 0; i < 20; ++i) {
    Await([&] { return workers.Look().idle == kThreads; });
    std::promise<std::thread::id> done;
    EXPECT_TRUE(workers.Begin(Running([&] { done.set_value(std::this_thread::get_id()); })));
    const std::thread::id thread = done.get_future().get();
    if (i > 0) {
      EXPECT_EQ(thread, last);
    }
    last = thread;
  }
}

TEST(Workers, ContinueAfterAJobThatThrows) {
  std::promise<void> done;
  Workers workers({.threads = 1});
  EXPECT_TRUE(workers.Begin(Running([] { throw std::runtime_error("thrown by a test"); })));
  EXPECT_TRUE(workers.Begin(Running([&] { done.set_value(); })));
  done.get_future().wait();
}

// The outcome of an awaited job. The context does not end in the meantime, and outlives the workers, which notify it.
int Do(asio::io_context& context, Workers& workers, std::function<int()> work,
       const Cancellation* cancellation = nullptr) {
  int result = 0;
  std::exception_ptr thrown;
  bool is_over = false;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> { result = co_await workers.Do<int>(std::move(work), kAnybody, cancellation); },
      [&](std::exception_ptr error) {
        thrown = error;
        is_over = true;
      });
  while (!is_over) context.run_one();
  if (thrown) std::rethrow_exception(thrown);
  return result;
}

TEST(Workers, ResumeTheAwaitingCoroutine) {
  asio::io_context context;
  const auto more_comes = asio::make_work_guard(context);
  Cancellation cancellation;
  Workers workers({.threads = 1});
  EXPECT_EQ(Do(context, workers, [] { return 7; }), 7);
  EXPECT_THROW(Do(context, workers, []() -> int { throw std::runtime_error("thrown by a test"); }), std::runtime_error);
  cancellation.Cancel();
  const auto code = [&](const Cancellation* of) {
    return Try([&] { return Do(context, workers, [] { return 7; }, of); }).error().code;
  };
  EXPECT_EQ(code(&cancellation), WASINN_ERROR_UNAVAILABLE);
  workers.Stop();
  EXPECT_EQ(code(nullptr), WASINN_ERROR_BUSY);
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

TEST(Workers, MakeRoomForATenantWithFewerJobs) {
  JobEnds flood, others;
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

TEST(Workers, EachPlaceHasAThreadHoweverManyHang) {
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

TEST(Workers, APlaceWithoutJobsIsForgotten) {
  Workers workers({.threads = 0, .long_job = std::chrono::hours(1)});
  for (Place place = 1; place <= 100; ++place) {
    std::promise<void> done;
    EXPECT_TRUE(workers.Begin({[&] { done.set_value(); }, nullptr, &kAnybody, nullptr, place}));
    done.get_future().wait();
  }
  Await([&] { return workers.Look().running == 0; });
  EXPECT_EQ(workers.Look().places, 0);
}

TEST(Workers, WaitingJobsOfOnePlaceLeaveRoomForOthers) {
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

int PriorityOfThisThread() { return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())); }

TEST(Workers, LongJobsHaveALowerPriority) {
  const int usual = PriorityOfThisThread();
  if (usual >= 19) GTEST_SKIP() << "there is no lower priority";
  constexpr Place kLong = 1, kShort = 3;
  Workers workers({.threads = 1, .long_job = milliseconds(0)});
  std::promise<void> begins, ends;
  std::atomic<int> first{0}, again{0}, other{0}, n_run{0};
  const auto begin = [&](std::function<void()> run, Place place) {
    EXPECT_TRUE(workers.Begin({[&, run = std::move(run)] {
                                 run();
                                 ++n_run;
                               },
                               nullptr, &kAnybody, nullptr, place}));
  };
  begin(
      [&] {
        begins.set_value();
        ends.get_future().wait();
        first = PriorityOfThisThread();
      },
      kLong);
  begins.get_future().wait();
  workers.Sweep();
  ends.set_value();
  begin([&] { again = PriorityOfThisThread(); }, kLong);
  Await([&] { return n_run == 2; });
  begin([&] { other = PriorityOfThisThread(); }, kShort);
  Await([&] { return n_run == 3; });
  EXPECT_GT(first, usual);
  EXPECT_GT(again, usual) << "the last job of its place was long";
  EXPECT_EQ(other, usual) << "another thread has taken the place of each that had a lower one";
}

TEST(FairQueue, ForgetsEarlierTurnsOnceItIsEmpty) {
  const Share one(1, false), other(1, false);
  FairQueue<int> queue;
  queue.Push(FairQueue<int>::Make(1), one);
  queue.Push(FairQueue<int>::Make(2), one);
  EXPECT_EQ(queue.PopFirst().mapped().value, 1);
  EXPECT_EQ(queue.PopFirst().mapped().value, 2);
  queue.Push(FairQueue<int>::Make(3), one);  // nothing waited in the meantime
  queue.Push(FairQueue<int>::Make(4), other);
  EXPECT_EQ(queue.PopFirst().mapped().value, 3);
  EXPECT_EQ(queue.PopFirst().mapped().value, 4);
}

TEST(FairQueue, ARemovedItemUsesNoTurn) {
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

// Jobs that run until they are stopped, while others wait.
TEST(Workers, LeaveTheLastQuarterToTenantsWithoutARunningJob) {
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

}  // namespace
}  // namespace wasinn::serve
