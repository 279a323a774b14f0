// Which inferences make a batch, in which order; and settings.
#include "core/batching/batch_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace wasinn::testing {
namespace {

using core::Batch;
using core::Batching;
using core::BatchItem;
using core::BatchItemPtr;
using core::BatchQueue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

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
  ~Queue() override {
    for (std::thread& thread : threads_) thread.join();
  }
  // Returns when it waits.
  void Add(const core::Share& share, const std::string& shape = "", uint32_t rows = 1) {
    const auto item = std::make_shared<BatchItem>();
    item->share = &share;
    item->shape = shape;
    item->rows = rows;
    item->late = BatchItem::Clock::time_point::max();
    const size_t before = queue_.waiting();
    threads_.emplace_back([this, item] { EXPECT_EQ(queue_.Wait(item), BatchQueue::Outcome::kDone); });
    while (queue_.waiting() != before + 1) std::this_thread::yield();
  }
  // Whose inferences the next batch has.
  std::vector<const core::Share*> Next() {
    const std::unique_ptr<Batch> batch = queue_.Next();
    std::vector<const core::Share*> shares;
    for (const BatchItemPtr& item : batch->items) shares.push_back(item->share);
    queue_.SetRead(*batch, [] {});
    queue_.SetBegun(*batch);
    queue_.End(*batch, true);
    return shares;
  }

  BatchQueue queue_{Batching{.max_batch_size = 4}, 1};
  std::vector<std::thread> threads_;
};

TEST_F(Queue, AFloodKeepsNobodyOut) {
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

// Who fails and succeeds in turns would else fail every other batch.
TEST_F(Queue, WhoFailsBatchAfterBatchMustSucceedMoreAndMoreOften) {
  const core::Share share(1, 7), other(1, 8);
  const auto note = [&](bool ok) { queue_.NoteAlone(share, "", 1, ok, {}); };
  for (const int needed : {1, 2, 4, 8}) {
    EXPECT_FALSE(queue_.IsSuspect(share));
    note(false);
    note(false);  // by itself, which costs nobody else anything
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

TEST(Suspects, WhoServesIsNotForgottenForAnother) {
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

// Nor does one of a shape that nobody else has hold back those who are enough.
TEST(QueueOfShapes, WhoWaitsForOthersHoldsNobodyUp) {
  BatchQueue queue(Batching{.max_batch_size = 2, .max_queue_delay_microseconds = 4000000000}, 1);
  const core::Share odd, usual;
  const auto item_of = [](const core::Share& share, const char* shape) {
    const auto item = std::make_shared<BatchItem>();
    item->share = &share;
    item->shape = shape;
    item->rows = 1;
    item->late = BatchItem::Clock::time_point::max();
    return item;
  };
  const std::vector<BatchItemPtr> items = {item_of(odd, "odd"), item_of(usual, "usual"), item_of(usual, "usual")};
  std::vector<std::future<BatchQueue::Outcome>> waits;
  for (const BatchItemPtr& item : items) {
    waits.push_back(std::async(std::launch::async, [&queue, item] { return queue.Wait(item); }));
    while (queue.waiting() != waits.size()) std::this_thread::yield();
  }
  auto next = std::async(std::launch::async, [&queue] { return queue.Next(); });
  if (next.wait_for(std::chrono::seconds(10)) != std::future_status::ready) queue.Stop();
  if (const std::unique_ptr<Batch> batch = next.get()) {
    EXPECT_THAT(batch->items, UnorderedElementsAre(items[1], items[2]));
    queue.End(*batch, true);
  } else {
    ADD_FAILURE() << "they wait for the odd one";
  }
  for (const BatchItemPtr& item : items) queue.Cancel(*item);
  EXPECT_EQ(waits[0].get(), BatchQueue::Outcome::kCancelled);
}

// Also by who came when nothing was known yet of how long batches take.
TEST_F(Queue, ABatchThatTakesTooLongIsCancelled) {
  const core::Share share;
  for (const char* shape : {"a", "b", "c", "d", "e"}) Add(share, shape);  // b waits long before the last one does
  EXPECT_EQ(Next().size(), 1u);
  const std::unique_ptr<Batch> batch = queue_.Next();
  std::promise<void> cancelled;
  queue_.SetRead(*batch, [&] { cancelled.set_value(); });
  queue_.SetBegun(*batch);
  EXPECT_EQ(cancelled.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
  queue_.End(*batch, true);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Next().size(), 1u);
}

// Whoever computes by itself has one of the model's places.
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
