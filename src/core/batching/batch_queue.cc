#include "core/batching/batch_queue.h"

#include <algorithm>
#include <new>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace wasinn::core {

using State = BatchItem::State;

namespace {

// A batch that takes so much longer than others has something in it that does not belong there.
std::chrono::nanoseconds LimitOf(std::chrono::nanoseconds usual) {
  constexpr int kLongestOfUsual = 10;
  constexpr std::chrono::milliseconds kShortest{100};
  return std::max<std::chrono::nanoseconds>(usual * kLongestOfUsual, kShortest);
}

bool IsBefore(const BatchItem& one, const BatchItem& other) {
  return one.place != other.place ? one.place < other.place : one.since < other.since;
}

}  // namespace

BatchQueue::BatchQueue(const Batching& batching, uint32_t most)
    : batching_(batching),
      most_(most),
      smallest_full_(batching.preferred_batch_size.empty() ? batching.max_batch_size
                                                           : std::ranges::min(batching.preferred_batch_size)) {}

bool BatchQueue::TryBeginAlone() {
  const std::lock_guard lock(mutex_);
  if (batching_.max_queue_delay_microseconds > 0 || !waiting_.empty() || computing_ + alone_ >= most_) return false;
  ++alone_;
  return true;
}

void BatchQueue::EndAlone() {
  const std::lock_guard lock(mutex_);
  --alone_;
}

// ---- A wait

BatchQueue::Outcome BatchQueue::Wait(const BatchItemPtr& item) {
  Add(item);
  for (;;) {
    if (item->state.load(std::memory_order_acquire) == State::kDone) {
      return item->alone ? Outcome::kAlone : Outcome::kDone;
    }
    Clock::time_point until;
    if (const std::optional<Outcome> outcome = Look(item, until)) return *outcome;
    if (until == Clock::time_point::max()) {
      item->changed.acquire();
    } else {
      (void)item->changed.try_acquire_until(until);
    }
  }
}

// Whoever computes batches is woken when one begins to wait, and when it may be full: not by each item.
void BatchQueue::Add(const BatchItemPtr& item) {
  std::condition_variable* tell = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto other = std::ranges::find(waiting_, item->share, [](const BatchItemPtr& one) { return one->share; });
    item->place = other == waiting_.end() ? order_.Arrive(*item->share) : (*other)->place;
    item->since = Clock::now();
    waiting_.push_back(item);
    rows_ += item->rows;
    if (waiting_.size() == 1 || rows_ >= smallest_full_) tell = &NextToWake();
  }
  if (tell != nullptr) tell->notify_one();
}

// Whether the wait ends here; else it looks again when something has changed, or it is time.
std::optional<BatchQueue::Outcome> BatchQueue::Look(const BatchItemPtr& item, Clock::time_point& until) {
  const std::lock_guard lock(mutex_);
  const State state = item->state.load(std::memory_order_relaxed);
  const Clock::time_point now = Clock::now();
  if (state == State::kWaits && (item->cancelled || now >= item->late)) {
    Remove(item);
    return item->cancelled ? Outcome::kCancelled : Outcome::kAlone;
  }
  if (state == State::kComputes && item->cancelled) {
    Leave(*item);
    return Outcome::kCancelled;
  }
  // What is in the batch beside it may be endless: each of them is computed by itself, in the time that is left.
  if (state == State::kComputes && now >= std::min(item->late, item->batch->late)) {
    std::exchange(item->batch->cancel, [] {})();
    until = Clock::time_point::max();
  } else if (state == State::kRead && now >= item->late) {
    until = Clock::time_point::max();  // SetRead wakes it
  } else if (usual_.count() > 0) {
    until = std::min(item->late, now + LimitOf(usual_));
  } else {
    until = item->late;
  }
  item->looks = until;
  return std::nullopt;
}

void BatchQueue::Remove(const BatchItemPtr& item) {
  std::erase(waiting_, item);
  rows_ -= item->rows;
  if (waiting_.empty()) order_.Rest();
}

// The batch goes on for the others, if there are any.
void BatchQueue::Leave(BatchItem& item) {
  if (++item.batch->left == item.batch->items.size()) std::exchange(item.batch->cancel, [] {})();
}

void BatchQueue::Cancel(BatchItem& item) {
  const std::lock_guard lock(mutex_);
  item.cancelled = true;
  item.changed.release();
}

void BatchQueue::SetSuspect(const Share& share, bool suspect) {
  constexpr uint32_t kMostOffences = 10;
  const std::lock_guard lock(mutex_);
  auto one = std::ranges::find(suspects_, &share, &Suspect::share);
  if (!suspect) {
    if (one != suspects_.end() && one->successes_left > 0) --one->successes_left;
    return;
  }
  if (one == suspects_.end()) {
    if (suspects_.size() == kMostSuspects) suspects_.erase(suspects_.begin());
    one = suspects_.insert(suspects_.end(), Suspect{.share = &share});
  }
  if (one->successes_left == 0) one->offences = std::min(one->offences + 1, kMostOffences);
  one->successes_left = 1u << (one->offences - 1);
}

bool BatchQueue::IsSuspect(const Share& share) const {
  const std::lock_guard lock(mutex_);
  const auto one = std::ranges::find(suspects_, &share, &Suspect::share);
  return one != suspects_.end() && one->successes_left > 0;
}

bool BatchQueue::IsTooLong(Clock::duration compute) const {
  const std::lock_guard lock(mutex_);
  return usual_.count() > 0 && compute >= LimitOf(usual_);
}

// ---- What is next

uint32_t BatchQueue::PreferredWithin(uint32_t rows) const {
  uint32_t best = 0;
  for (const uint32_t size : batching_.preferred_batch_size) {
    if (size <= rows) best = std::max(best, size);
  }
  return best;
}

// How many rows a batch of this shape may have, if it is to begin now; else it is `later`, or before.
std::optional<uint32_t> BatchQueue::RowsOf(const Waiting& shape, Clock::time_point now,
                                           Clock::time_point& later) const {
  if (shape.rows >= batching_.max_batch_size) return batching_.max_batch_size;
  const Clock::time_point end = shape.oldest + std::chrono::microseconds(batching_.max_queue_delay_microseconds);
  if (now >= end) return batching_.max_batch_size;
  later = std::min(later, end);
  if (const uint32_t preferred = PreferredWithin(static_cast<uint32_t>(shape.rows)); preferred > 0) return preferred;
  return std::nullopt;
}

// Whose shape the next batch has, and how many rows, if one is to begin now. Who waits for others of its shape holds up
// no batch of another. One pass, for guests choose how many shapes there are.
std::optional<BatchQueue::Choice> BatchQueue::Choose(Clock::time_point now, Clock::time_point& later) const {
  std::unordered_map<std::string_view, Waiting> shapes;
  for (const BatchItemPtr& item : waiting_) {
    Waiting& shape = shapes.try_emplace(item->shape, Waiting{.first = item.get(), .oldest = item->since}).first->second;
    if (item->place < shape.first->place) shape.first = item.get();
    shape.rows += item->rows;
    shape.oldest = std::min(shape.oldest, item->since);
  }
  std::optional<Choice> best;
  for (const auto& [name, shape] : shapes) {
    const std::optional<uint32_t> rows = RowsOf(shape, now, later);
    if (rows && (!best || IsBefore(*shape.first, *best->one))) best = Choice{shape.first, *rows};
  }
  return best;
}

// Of those that fit, the one that is next.
bool BatchQueue::TakeOne(Batch& batch, const std::string& shape, uint32_t rows) {
  auto next = waiting_.end();
  for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
    const BatchItem& item = **it;
    if (item.shape != shape || batch.rows + item.rows > rows) continue;
    if (next == waiting_.end() || item.place < (*next)->place) next = it;
  }
  if (next == waiting_.end()) return false;
  batch.items.push_back(*next);
  BatchItem& item = **next;
  waiting_.erase(next);
  rows_ -= item.rows;
  batch.rows += item.rows;
  item.batch = &batch;
  item.state.store(State::kRead, std::memory_order_relaxed);
  const FairOrder::Place behind = order_.Serve(*item.share, item.place, item.rows);
  for (const BatchItemPtr& other : waiting_) {
    if (other->share == item.share) other->place = behind;
  }
  return true;
}

std::unique_ptr<Batch> BatchQueue::TakeNext(const Choice& choice) {
  auto batch = std::make_unique<Batch>();
  batch->items.reserve(waiting_.size());
  const std::string shape = choice.one->shape;
  while (TakeOne(*batch, shape, choice.rows)) {
  }
  if (batch->items.empty()) TakeOne(*batch, shape, batching_.max_batch_size);  // larger than what was preferred
  if (waiting_.empty()) {
    order_.Rest();
  } else {
    NextToWake().notify_one();  // somebody else looks at what is left
  }
  ++computing_;
  return batch;
}

void BatchQueue::SetDone(BatchItem& item, bool alone) {
  item.batch = nullptr;
  item.alone = alone;
  item.state.store(State::kDone, std::memory_order_release);
}

void BatchQueue::GiveUpFirst() {
  const BatchItemPtr item = waiting_.front();
  Remove(item);
  SetDone(*item, true);
  item->changed.release();
}

bool BatchQueue::WaitForNeed() {
  std::unique_lock lock(mutex_);
  more_.wait(lock, [this] { return stopping_ || (!waiting_.empty() && idle_ == 0); });
  return !stopping_;
}

std::unique_ptr<Batch> BatchQueue::Next() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (stopping_) return nullptr;
    if (waiting_.empty()) {
      ++idle_;
      wake_.wait(lock);
      --idle_;
      continue;
    }
    Clock::time_point later = Clock::time_point::max();
    try {
      if (const std::optional<Choice> choice = Choose(Clock::now(), later)) return TakeNext(*choice);
      ++idle_;
      wake_.wait_until(lock, later);
      --idle_;
    } catch (const std::bad_alloc&) {
      GiveUpFirst();
    }
  }
}

// ---- A batch

void BatchQueue::SetRead(Batch& batch, std::function<void()> cancel) {
  const std::lock_guard lock(mutex_);
  batch.cancel = std::move(cancel);
  batch.since = Clock::now();
  if (usual_.count() > 0) batch.late = batch.since + LimitOf(usual_);
  for (const BatchItemPtr& item : batch.items) {
    item->state.store(State::kComputes, std::memory_order_relaxed);
    // Who came before it was known how long batches take would look far too late.
    const Clock::time_point due = std::min(item->late, batch.late);
    const bool sleeps = due != Clock::time_point::max() && item->looks > due + LimitOf(usual_);
    if (item->cancelled || sleeps) item->changed.release();
  }
}

void BatchQueue::End(Batch& batch, bool ok) noexcept {
  {
    const std::lock_guard lock(mutex_);
    batch.cancel = nullptr;
    if (ok) usual_ = std::max<std::chrono::nanoseconds>(Clock::now() - batch.since, usual_ - usual_ / 16);
    for (const BatchItemPtr& item : batch.items) SetDone(*item, !ok);
    --computing_;
  }
  for (const BatchItemPtr& item : batch.items) item->changed.release();
  batch.items.clear();
}

void BatchQueue::Stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  wake_.notify_all();
  more_.notify_all();
}

size_t BatchQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

}  // namespace wasinn::core
