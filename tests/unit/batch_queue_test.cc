// The choice of inferences for a batch, and their order; and settings.
#include "core/batching/batch_queue.h"
#include "support/test.h"

namespace wasinn::testing {
namespace {

using core::Batch;
using core::Batching;
using core::BatchItem;
using core::BatchItemPtr;
using core::BatchQueue;
using core::Clock;

TEST(BatchingSettings, AreChecked) {
  const auto error = [](const Batching& batching) { return std::string(batching.Check().message()); };
  EXPECT_TRUE(Batching{}.Check().ok());
  EXPECT_TRUE((Batching{.max_batch_size = 4, .preferred_batch_size = {1, 4}}.Check().ok()));
  EXPECT_THAT(error({.max_batch_size = 4097}), HasSubstr("max_batch_size is 4097: it may be 4096 at most"));
  EXPECT_THAT(error({.max_batch_size = 4, .preferred_batch_size = {5}}), HasSubstr("expected 1 to max_batch_size, 4"));
  EXPECT_THAT(error({.max_batch_size = 4, .preferred_batch_size = {0}}), HasSubstr("a preferred_batch_size is 0"));
  EXPECT_THAT(error({.max_queue_delay_microseconds = 1}), HasSubstr("batching needs a max_batch_size"));
  EXPECT_THAT(error({.max_batch_size = 4, .instance_count = 257}), HasSubstr("it may be 256 at most"));
}

class Queue : public ::testing::Test {
 protected:
  explicit Queue(const Batching& batching = {.max_batch_size = 4}, uint32_t most = 1)
      : queue_(batching, most, Clock(hands_)) {}
  // Whatever still waits leaves.
  ~Queue() override {
    for (const BatchItemPtr& item : items_) queue_.Cancel(*item);
    for (auto& wait : waits_) EXPECT_TRUE(!wait.valid() || wait.get() != BatchQueue::Outcome::kAlone);
  }
  // Returns when it waits.
  void Add(const core::Share& share, const std::string& shape = "", uint32_t rows = 1,
           Clock::time_point late = Clock::time_point::max()) {
    const auto item = items_.emplace_back(std::make_shared<BatchItem>());
    item->share = &share;
    item->shape = shape;
    item->rows = rows;
    item->late = late;
    const size_t before = queue_.waiting();
    hands_.Turn(std::chrono::nanoseconds(1));  // it is later than the others
    waits_.push_back(std::async(std::launch::async, [this, item] { return queue_.Wait(item); }));
    while (queue_.waiting() != before + 1) std::this_thread::yield();
  }
  // The guests of the next batch's items.
  std::vector<const core::Share*> Next() {
    const std::unique_ptr<Batch> batch = queue_.Next();
    std::vector<const core::Share*> shares;
    for (const BatchItemPtr& item : batch->items) shares.push_back(item->share);
    queue_.SetRead(*batch, [] {});
    queue_.SetBegun(*batch);
    queue_.End(*batch, true);
    return shares;
  }

  Clock::Hands hands_;
  BatchQueue queue_;
  std::vector<BatchItemPtr> items_;
  std::vector<std::future<BatchQueue::Outcome>> waits_;
};

TEST_F(Queue, AFloodOfOneGuestKeepsNoOtherOut) {
  const core::Share flood, other;
  for (int i = 0; i < 8; ++i) Add(flood);
  Add(other);
  EXPECT_THAT(Next(), UnorderedElementsAre(&flood, &flood, &flood, &other));
  EXPECT_THAT(Next(), ElementsAre(&flood, &flood, &flood, &flood));
  EXPECT_THAT(Next(), ElementsAre(&flood));
}

TEST_F(Queue, WeightsAreRows) {
  const core::Share heavy(3), light;
  for (int i = 0; i < 4; ++i) {
    Add(light);
    Add(heavy);
  }
  EXPECT_THAT(Next(), UnorderedElementsAre(&light, &heavy, &heavy, &heavy));
  EXPECT_THAT(Next(), UnorderedElementsAre(&light, &light, &light, &heavy));
}

// A guest that fails and succeeds in turns would else fail every other batch.
TEST_F(Queue, AGuestThatFailsSeveralBatchesMustSucceedMoreAndMoreOften) {
  const core::Share share(1, 7), other(1, 8);
  const auto note = [&](bool ok) { queue_.NoteAlone(share, "", 1, ok, {}); };
  for (const int needed : {1, 2, 4, 8}) {
    EXPECT_FALSE(queue_.IsSuspect(share));
    note(false);
    note(false);  // by itself, which affects no other guest
    for (int i = 0; i < needed; ++i) {
      EXPECT_TRUE(queue_.IsSuspect(share)) << i;
      note(true);
    }
  }
  EXPECT_FALSE(queue_.IsSuspect(share));
  EXPECT_FALSE(queue_.IsSuspect(other));
}

// A guest's place in memory may be the next one's.
TEST_F(Queue, SuspectsAreKnownByTheirNumbers) {
  for (uint64_t guest = 1; guest <= 2; ++guest) {
    const core::Share share(1, guest);
    EXPECT_FALSE(queue_.IsSuspect(share));
    queue_.NoteAlone(share, "", 1, false, {});
    EXPECT_TRUE(queue_.IsSuspect(share));
  }
}

TEST(Suspects, AGuestUnderSuspicionIsNotForgottenForAnother) {
  core::Suspects suspects;
  suspects.Set(1, true);
  for (uint64_t guest = 2; guest <= 200; ++guest) {
    suspects.Set(guest, true);
    suspects.Set(guest, false);
  }
  EXPECT_TRUE(suspects.Has(1));
  EXPECT_FALSE(suspects.Has(200));
}

TEST(UsualTimes, AreEachShapesOwn) {
  using namespace std::chrono_literals;
  core::UsualTimes times;
  EXPECT_EQ(times.LimitOf("short", 1), core::UsualTimes::kUnknown);
  times.Learn("short", 4, 1ms);
  EXPECT_EQ(times.LimitOf("short", 4), 100ms);
  EXPECT_EQ(times.LimitOf("long", 4), core::UsualTimes::kUnknown);
  times.Learn("long", 1, 200ms);
  EXPECT_EQ(times.LimitOf("long", 1), 2s);
  EXPECT_EQ(times.LimitOf("long", 8), 16s) << "as many may take as much longer";
  EXPECT_EQ(times.LimitOf("short", 4), 100ms);
}

// One that takes half an hour would else let the next ones take five.
TEST(UsualTimes, OneThatTakesTooLongTeachesLittle) {
  using namespace std::chrono_literals;
  core::UsualTimes times;
  times.Learn("", 1, 1ms);
  times.Learn("", 1, 30min);
  EXPECT_EQ(times.LimitOf("", 1), 1s);
}

TEST_F(Queue, ABatchHasOneShapeAndNoMoreRowsThanItMay) {
  const core::Share share;
  Add(share, "a", 3);
  Add(share, "b", 1);
  Add(share, "a", 2);
  Add(share, "a", 1);
  EXPECT_EQ(Next().size(), 2u) << "3 and 1 of a";
  EXPECT_EQ(Next().size(), 1u) << "b, which came before";
  EXPECT_EQ(Next().size(), 1u);
}

// Nor does an item of a unique shape hold back a full batch.
class QueueOfShapes : public Queue {
 protected:
  QueueOfShapes() : Queue({.max_batch_size = 2, .max_queue_delay_microseconds = 4000000000}) {}
};

TEST_F(QueueOfShapes, AnItemThatWaitsForItsBatchHoldsUpNoOther) {
  const core::Share odd, usual;
  Add(odd, "odd");
  Add(usual, "usual");
  Add(usual, "usual");
  EXPECT_THAT(Next(), ElementsAre(&usual, &usual));
}

// Even if it began to wait when it was not known yet how long batches take.
TEST_F(Queue, ABatchThatTakesTooLongIsCancelled) {
  const core::Share share;
  for (const char* shape : {"a", "b", "c", "d", "e"}) Add(share, shape);  // b waits long before the last one does
  EXPECT_EQ(Next().size(), 1u);
  const std::unique_ptr<Batch> batch = queue_.Next();
  std::promise<void> cancelled;
  queue_.SetRead(*batch, [&] { cancelled.set_value(); });
  queue_.SetBegun(*batch);
  hands_.Turn(core::UsualTimes::kUnknown);
  cancelled.get_future().wait();
  queue_.End(*batch, true);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Next().size(), 1u);
}

TEST_F(Queue, AnItemWithoutOthersIsComputedByItself) {
  const core::Share share;
  Add(share, "", 1, hands_.now() + std::chrono::milliseconds(100));
  hands_.Turn(std::chrono::milliseconds(100));
  EXPECT_EQ(waits_[0].get(), BatchQueue::Outcome::kAlone);
}

// An inference that is computed by itself has one of the model's places.
class QueueOfTwo : public Queue {
 protected:
  QueueOfTwo() : Queue({.max_batch_size = 4}, 2) {}
};

// As after a batch that was cancelled: its instance makes a new context before it looks at the queue again.
TEST_F(QueueOfTwo, AnIdleThreadTakesThePlaceOfABatchThatEnds) {
  const core::Share one, other;
  std::optional<BatchQueue::Alone> alone(queue_);
  ASSERT_TRUE(*alone);
  Add(one);
  const std::unique_ptr<Batch> first = queue_.Next();
  Add(other);
  std::future<std::vector<const core::Share*>> idle = std::async(std::launch::async, [this] { return Next(); });
  while (queue_.idle() == 0) std::this_thread::yield();
  queue_.SetRead(*first, [] {});
  queue_.SetBegun(*first);
  queue_.End(*first, false);
  EXPECT_EQ(idle.wait_for(kPatience), std::future_status::ready) << "a place is free, and not taken";
  alone.reset();
  EXPECT_THAT(idle.get(), ElementsAre(&other));
  EXPECT_EQ(waits_.front().get(), BatchQueue::Outcome::kAlone) << "its batch failed";
}

TEST_F(Queue, NoMoreAreComputedAtOnceThanMayBe) {
  std::optional<BatchQueue::Alone> alone(queue_);
  EXPECT_TRUE(*alone);
  const core::Share share;
  Add(share);
  auto next = std::async(std::launch::async, [this] { return Next().size(); });
  EXPECT_EQ(next.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  alone.reset();
  EXPECT_EQ(next.get(), 1u);
}

}  // namespace
}  // namespace wasinn::testing
