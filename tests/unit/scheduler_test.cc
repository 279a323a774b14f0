// Computes that wait for their turn: how many run, which is next, and what ends a wait.
#include "core/inference/scheduler.h"

#include "support/echo.h"
#include "support/gate.h"
#include "unit/isolated_program.h"
#include "unit/turned_host.h"

namespace wasinn::testing {
namespace {

using core::Scheduler;

// Waits for an event by looking again and again; the test's time limit ends a wait for one that never comes.
void AwaitWaiting(const Scheduler& scheduler, size_t count) {
  while (scheduler.waiting() != count) std::this_thread::yield();
}

// Threads that wait for a turn, and say when they had it.
class SchedulerQueue {
 public:
  explicit SchedulerQueue(Scheduler& scheduler) : scheduler_(scheduler) {}
  ~SchedulerQueue() {
    for (std::thread& thread : threads_) thread.join();
  }
  SchedulerQueue(const SchedulerQueue&) = delete;
  SchedulerQueue& operator=(const SchedulerQueue&) = delete;

  // Returns when it waits.
  void Add(int name, Scheduler::Share& share, const void* of_model = nullptr) {
    const size_t before = scheduler_.waiting();
    threads_.emplace_back([this, name, &share, of_model] {
      Scheduler::Waiter waiter;
      const Scheduler::Turn turn(scheduler_, share, waiter, of_model);
      const std::lock_guard lock(mutex_);
      served_.push_back(name);
    });
    AwaitWaiting(scheduler_, before + 1);
  }
  std::vector<int> Served() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    return served_;
  }

 private:
  Scheduler& scheduler_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::vector<int> served_;
};

TEST(Scheduler, LetsSoManyInAndNoMore) {
  Scheduler scheduler(2);
  Scheduler::Share share, other;
  Scheduler::Waiter waiter;
  std::optional<Scheduler::Turn> first(std::in_place, scheduler, share, waiter);
  const Scheduler::Turn second(scheduler, other, waiter);
  EXPECT_TRUE(*first);
  EXPECT_TRUE(second);
  SchedulerQueue queue(scheduler);
  queue.Add(1, share);
  queue.Add(2, share);
  first.reset();
  EXPECT_THAT(queue.Served(), ElementsAre(1, 2)) << "in the order in which they came";
  EXPECT_EQ(scheduler.waiting(), 0u);
}

// The order in which those are served that come, in this order, while another one runs.
std::vector<int> Serve(Scheduler& scheduler, const std::vector<std::pair<int, Scheduler::Share*>>& comers) {
  Scheduler::Share running;
  Scheduler::Waiter waiter;
  std::optional<Scheduler::Turn> turn(std::in_place, scheduler, running, waiter);
  SchedulerQueue queue(scheduler);
  for (const auto& [name, share] : comers) queue.Add(name, *share);
  turn.reset();
  return queue.Served();
}

TEST(Scheduler, AGuestWithManyThreadsDelaysNoOther) {
  Scheduler scheduler(1);
  Scheduler::Share many, few;
  EXPECT_THAT(Serve(scheduler, {{1, &many}, {2, &many}, {3, &many}, {9, &few}}), ElementsAre(1, 9, 2, 3));
}

TEST(Scheduler, WeightsAreTurns) {
  Scheduler scheduler(1);
  Scheduler::Share heavy(2), light;
  std::vector<std::pair<int, Scheduler::Share*>> comers(6, {1, &light});
  comers.insert(comers.end(), 6, {2, &heavy});
  const std::vector<int> served = Serve(scheduler, comers);
  EXPECT_EQ(std::count(served.begin(), served.begin() + 9, 2), 6) << ::testing::PrintToString(served);
}

// Else one that computes again and again would be first each time.
TEST(Scheduler, AGuestThatComesBackIsWhereItsLastTurnPutIt) {
  core::FairOrder order;
  const core::Share heavy(4), light;
  core::FairOrder::Place of_heavy = order.Arrive(heavy);
  for (int turns = 0; turns < 3; ++turns) {
    order.Serve(light, order.Arrive(light));
    for (int i = 0; i < 4; ++i) {
      EXPECT_LT(of_heavy, order.Arrive(light));
      of_heavy = order.Serve(heavy, of_heavy);
    }
    EXPECT_EQ(of_heavy, order.Arrive(light));
  }
}

// A new guest may lie where one lay that is gone.
TEST(Scheduler, AGuestIsKnownByItsNumberAndNotByItsAddress) {
  core::FairOrder order;
  std::optional<core::Share> share(std::in_place, 1, 7);
  const core::FairOrder::Place fresh = order.Arrive(*share);
  const core::FairOrder::Place behind = order.Serve(*share, fresh, 100);
  EXPECT_EQ(order.Arrive(*share), behind);
  share.emplace(1, 8);
  EXPECT_EQ(order.Arrive(*share), fresh) << "it has been served nothing";
  share.emplace(1, 7);
  EXPECT_EQ(order.Arrive(*share), behind);
}

// A server may have a new guest for each request.
TEST(Scheduler, NewGuestsDoNotOvertakeOneThatWaits) {
  Scheduler scheduler(1);
  Scheduler::Share old, first_new, second_new;
  EXPECT_THAT(Serve(scheduler, {{0, &old}}), ElementsAre(0));
  EXPECT_THAT(Serve(scheduler, {{0, &old}, {1, &first_new}, {2, &second_new}}), ElementsAre(0, 1, 2));
}

// A guest computes on models of several schedulers, also at the same time.
TEST(Scheduler, TurnsElsewhereAreNoneHere) {
  Scheduler here(1), elsewhere(1);
  Scheduler::Share busy, other;
  EXPECT_THAT(Serve(here, {{2, &other}}), ElementsAre(2));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Serve(elsewhere, {{1, &busy}}), ElementsAre(1));
  EXPECT_THAT(Serve(here, {{1, &busy}, {2, &other}}), ElementsAre(1, 2));
}

TEST(Scheduler, ACancelledWaitHasNoTurnAndTakesNone) {
  Scheduler scheduler(1);
  Scheduler::Share share;
  Scheduler::Waiter own, cancelled;
  std::optional<Scheduler::Turn> first(std::in_place, scheduler, share, own);
  auto granted = std::async(std::launch::async, [&] {
    const Scheduler::Turn turn(scheduler, share, cancelled);
    return static_cast<bool>(turn);
  });
  AwaitWaiting(scheduler, 1);
  cancelled.Cancel();
  EXPECT_FALSE(granted.get());
  SchedulerQueue queue(scheduler);
  queue.Add(1, share);
  first.reset();
  EXPECT_THAT(queue.Served(), ElementsAre(1));
  cancelled.Cancel();  // of no wait: nothing happens
  EXPECT_TRUE(Scheduler::Turn(scheduler, share, cancelled));
}

// How many turns of this share are had at once, if as many as there are places are wanted.
size_t MostTurnsOf(Scheduler& scheduler, const std::vector<Scheduler::Share*>& comers) {
  std::vector<Scheduler::Waiter> waiters(comers.size());
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  std::vector<std::future<void>> threads;  // last: they use all the others
  for (size_t i = 0; i < comers.size(); ++i) {
    threads.push_back(std::async(std::launch::async, [&, i] {
      const Scheduler::Turn turn(scheduler, *comers[i], waiters[i]);
      ended.wait();
    }));
  }
  while (scheduler.running() + scheduler.waiting() != comers.size()) std::this_thread::yield();
  const size_t running = scheduler.running();
  end.set_value();
  return running;
}

TEST(Scheduler, LeavesTheLastQuarterToOthers) {
  for (const auto& [most, of_one] :
       std::vector<std::pair<uint32_t, size_t>>{{1, 1}, {2, 1}, {3, 2}, {4, 3}, {7, 6}, {8, 6}, {16, 12}}) {
    Scheduler scheduler(most);
    Scheduler::Share greedy;
    EXPECT_EQ(MostTurnsOf(scheduler, std::vector(2 * most, &greedy)), of_one) << most;
    EXPECT_EQ(scheduler.running(), 0u);
  }
}

// The tenant is counted, not each of its guests.
TEST(Scheduler, LeavesTheLastQuarterToOtherTenants) {
  Scheduler scheduler(8);
  const int tenant = 0;
  Scheduler::Share one(1, 1, &tenant), two(1, 2, &tenant), three(1, 3, &tenant);
  EXPECT_EQ(MostTurnsOf(scheduler, {&one, &one, &one, &two, &two, &two, &three, &three, &three}), 6u);
}

TEST(Scheduler, OthersHaveAPlaceAtOnceWhoeverWaits) {
  Scheduler scheduler(4);
  Scheduler::Share greedy(1000), other;
  std::vector<Scheduler::Waiter> waiters(5);
  std::optional<Scheduler::Turn> first(std::in_place, scheduler, greedy, waiters[0]);
  const Scheduler::Turn second(scheduler, greedy, waiters[1]), third(scheduler, greedy, waiters[2]);
  SchedulerQueue queue(scheduler);
  queue.Add(1, greedy);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Scheduler::Turn(scheduler, other, waiters[3])) << "it was not waited for";
  EXPECT_EQ(scheduler.waiting(), 1u);
  first.reset();
  EXPECT_THAT(queue.Served(), ElementsAre(1));
}

// Even in the last quarter.
TEST(Scheduler, WeightsAreTurnsInWhatIsLeftToOthers) {
  Scheduler scheduler(4);
  Scheduler::Share greedy, running, heavy(2), light;
  Scheduler::Waiter waiters[4];
  std::optional<Scheduler::Turn> first(std::in_place, scheduler, greedy, waiters[0]);
  const Scheduler::Turn second(scheduler, greedy, waiters[1]), third(scheduler, greedy, waiters[2]);
  std::optional<Scheduler::Turn> last(std::in_place, scheduler, running, waiters[3]);
  SchedulerQueue queue(scheduler);
  for (int i = 0; i < 3; ++i) queue.Add(0, greedy);
  for (int i = 0; i < 3; ++i) queue.Add(1, light);
  for (int i = 0; i < 6; ++i) queue.Add(2, heavy);
  last.reset();
  AwaitWaiting(scheduler, 3);                                  // the greedy one's
  while (scheduler.running() != 3) std::this_thread::yield();  // and no other's: all have noted their turns
  first.reset();
  const std::vector<int> served = queue.Served();
  EXPECT_EQ(std::count(served.begin(), served.begin() + 6, 2), 4) << ::testing::PrintToString(served);
  EXPECT_THAT(std::vector(served.end() - 3, served.end()), ElementsAre(0, 0, 0));
}

TEST(Scheduler, AModelThatComputesNothingHasATurnAtOnce) {
  Scheduler scheduler(2);
  Scheduler::Share share, other;
  const int slow = 0, quick = 0;
  std::vector<Scheduler::Waiter> waiters(3);
  const Scheduler::Turn first(scheduler, share, waiters[0], &slow), second(scheduler, other, waiters[1], &slow);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(Scheduler::Turn(scheduler, share, waiters[2], &quick)) << "it was not waited for";
  EXPECT_EQ(scheduler.running(), 2u) << "it was none of these";
}

// The holder of that turn passes it on, even if it has none of the host's.
TEST(Scheduler, AModelsComputesHaveItsTurnOneAfterTheOther) {
  Scheduler scheduler(1);
  Scheduler::Share share;
  const int slow = 0, quick = 0;
  Scheduler::Waiter of_slow, of_quick;
  SchedulerQueue queue(scheduler);  // outlives the turn, for which it waits
  const Scheduler::Turn first(scheduler, share, of_slow, &slow);
  queue.Add(9, share, &slow);
  {
    SchedulerQueue of_model(scheduler);
    std::optional<Scheduler::Turn> own(std::in_place, scheduler, share, of_quick, &quick);
    of_model.Add(1, share, &quick);
    of_model.Add(2, share, &quick);
    own.reset();
    EXPECT_THAT(of_model.Served(), ElementsAre(1, 2));
  }
  EXPECT_EQ(scheduler.waiting(), 1u) << "the slow one's";
}

// Places are neither lost nor made, however waits, turns and cancels meet.
TEST(Scheduler, KeepsCountWhateverMeets) {
  constexpr int kThreads = 8, kTurns = 500;
  constexpr uint32_t kMax = 3;
  Scheduler scheduler(kMax);
  std::vector<Scheduler::Waiter> waiters(kThreads);
  std::array<Scheduler::Share, 3> shares;
  const std::array<int, 2> models{};
  std::atomic<uint32_t> running{0}, most{0}, granted{0};
  std::atomic<bool> done{false};
  std::thread canceller([&] {
    for (size_t i = 0; !done; ++i) waiters[i % kThreads].Cancel();
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Scheduler::Share& share = shares[static_cast<size_t>(t) % 3];
      const int* const model = t % 4 < 2 ? &models[static_cast<size_t>(t) % 2] : nullptr;
      for (int i = 0; i < kTurns; ++i) {
        const Scheduler::Turn turn(scheduler, share, waiters[static_cast<size_t>(t)], model);
        if (!turn) continue;
        const uint32_t now = ++running;
        for (uint32_t seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        ++granted;
        --running;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  canceller.join();
  EXPECT_LE(most, kMax + models.size()) << "one more of each model";
  EXPECT_GT(granted, 0u);
  EXPECT_EQ(scheduler.waiting(), 0u);
  EXPECT_EQ(scheduler.running(), 0u);
  Scheduler::Share share, other;
  Scheduler::Waiter waiter;
  const Scheduler::Turn first(scheduler, share, waiter), second(scheduler, share, waiter),
      third(scheduler, other, waiter);
  EXPECT_TRUE(first && second && third) << "the places are free again";
}

// A guest with one context, of the model "m".
struct ScheduledProgram : EchoProgram {
  explicit ScheduledProgram(const HostPtr& host, uint32_t compute_timeout_ms = 0)
      : EchoProgram(NewGuest(host.get(), &wasinn_limits::compute_timeout_ms, compute_timeout_ms)) {
    EXPECT_EQ(Set(context, {1}), kSuccess);
  }
  uint32_t Compute() { return EchoProgram::Compute(context); }
  std::future<uint32_t> BeginCompute() {
    return std::async(std::launch::async, [this] { return Compute(); });
  }

  const uint32_t context = NewContext("m");
};

struct Limit {
  const char* name;
  const char* host;   // settings
  const char* model;  // a line
  const char* message;
};
class Turns : public ::testing::TestWithParam<Limit> {
 protected:
  Log log_;
  core::Clock::Hands hands_;
  const HostPtr host_ = TurnedHost(hands_, log_, GetParam().host);
  Gate gate_;
};
INSTANTIATE_TEST_SUITE_P(All, Turns,
                         ::testing::Values(Limit{"OfTheHost", "max_computes = 1\n", "turns 0\n", "(max_computes)"},
                                           Limit{"OfTheModel", "", "turns 1\n", "(of this model)"}),
                         [](const auto& limit) { return std::string(limit.param.name); });

TEST_P(Turns, AWaitEndsWithItsDeadlineOrItsGuest) {
  AddEchoModel(host_.get(), "m", std::string("in x f32 1\n") + GetParam().model + gate_.Compute());
  ScheduledProgram first(host_), hurried(host_, 50), closed(host_);
  auto computing = first.BeginCompute();
  gate_.Await();
  auto late = hurried.BeginCompute();
  EXPECT_EQ(TurnUntilDone(hands_, late), kRuntimeError);
  EXPECT_TRUE(
      log_.Contains("the compute was stopped after 50 ms: it was still waiting: no more than 1 computes run at once " +
                    std::string(GetParam().message)));
  auto waiting = closed.BeginCompute();
  wasinn_guest_close(closed.guest.get());
  EXPECT_EQ(waiting.get(), kRuntimeError);
  gate_.Open();
  EXPECT_EQ(computing.get(), kSuccess);
  EXPECT_EQ(hurried.Compute(), kSuccess) << "now there is room";
}

// Many wait for one model, and one of them runs: the other place is others'.
TEST(TurnsOfOthers, AWaitForAModelsTurnTakesNoPlaceOfTheHost) {
  const LoggedHost host("max_computes = 2\n");
  Gate gate;
  AddEchoModel(host.get(), "m", "in x f32 1\nturns 1\n" + gate.Compute());
  ScheduledProgram first(host), second(host);
  auto computing = first.BeginCompute();
  gate.Await();
  auto waiting = second.BeginCompute();
  AddEchoModel(host.get(), "m", "in x f32 1\nturns 0\n");
  ScheduledProgram other(host);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(other.Compute(), kSuccess);
  gate.Open();
  EXPECT_EQ(computing.get(), kSuccess);
  EXPECT_EQ(waiting.get(), kSuccess);
}

// One guest has many threads and a model that does not end, in its own worker; the other's compute is short.
TEST(TurnsOfOthers, AGuestWithAnEndlessModelLeavesPlacesToOthers) {
  const LoggedHost host("max_computes = 4\nworker = '" + WorkerFile() + "'\n");
  Gate gate;
  AddEchoModel(host.get(), "m", "in x f32 1\nturns 0\n");
  AddEchoModel(host.get(), "gated", "in x f32 1\nturns 0\n" + gate.Compute());
  for (const bool is_isolated : {true, false}) {
    EchoProgram greedy(host.get());
    std::vector<uint32_t> contexts(8);
    for (uint32_t& context : contexts) {
      context = is_isolated ? greedy.Open("in x f32 1\nturns 0\ndelay 3600000\n") : greedy.NewContext("gated");
      EXPECT_EQ(greedy.Set(context, {1}), kSuccess);
    }
    std::vector<std::future<uint32_t>> computing;
    for (const uint32_t context : contexts) {
      computing.push_back(std::async(std::launch::async, [&, context] { return greedy.Compute(context); }));
    }
    const Scheduler& places = host->host->scheduler();
    while (places.running() + places.waiting() < contexts.size()) std::this_thread::yield();
    EXPECT_EQ(places.running(), 3u);
    ScheduledProgram other(host);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(other.Compute(), kSuccess);
    EXPECT_EQ(places.running(), 3u) << "none of the others has ended";
    wasinn_guest_stop(greedy.guest.get());
    for (auto& one : computing) EXPECT_NE(one.get(), kSuccess);
  }
}

// Tenants are counted together, also by a model's own number.
TEST(TurnsOfOthers, ATenantOfManyGuestsLeavesPlacesToOthers) {
  const LoggedHost host("max_computes = 100\n");
  Gate gate;
  AddEchoModel(host.get(), "m", "in x f32 1\nturns 8\ngated 2\n" + gate.Compute());
  std::vector<std::unique_ptr<EchoProgram>> guests;
  std::vector<std::future<uint32_t>> computing;
  for (int i = 0; i < 12; ++i) {
    auto& guest = *guests.emplace_back(std::make_unique<EchoProgram>(GuestOf(host.get(), "t")));
    const uint32_t context = guest.NewContext("m");
    const uint8_t gated = 2;
    float value = 0;
    std::memcpy(&value, &gated, sizeof(gated));
    EXPECT_EQ(guest.Set(context, {value}), kSuccess);
    computing.push_back(std::async(std::launch::async, [&guest, context] { return guest.Compute(context); }));
  }
  while (host->host->scheduler().running() < 6) std::this_thread::yield();
  ScheduledProgram other(host);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(other.Compute(), kSuccess);
  EXPECT_EQ(host->host->scheduler().running(), 6u);
  gate.Open();
  for (auto& one : computing) EXPECT_EQ(one.get(), kSuccess);
}

TEST(TurnsOfOthers, AModelThatTakesNoTurnsDoesNotWait) {
  const LoggedHost host("max_computes = 1\n");
  Gate gate;
  AddEchoModel(host.get(), "m", "in x f32 1\nturns 0\n" + gate.Compute());
  ScheduledProgram first(host);
  auto computing = first.BeginCompute();
  gate.Await();
  AddEchoModel(host.get(), "m", "in x f32 1\n");
  ScheduledProgram other(host);
  EXPECT_EQ(other.Compute(), kSuccess);
  gate.Open();
  EXPECT_EQ(computing.get(), kSuccess);
}

}  // namespace
}  // namespace wasinn::testing
