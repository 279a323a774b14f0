#include "core/batching/batch_queue.h"

#include <algorithm>
#include <new>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace wasinn::core {

using State = BatchItem::State;

namespace {

bool IsBefore(const BatchItem& one, const BatchItem& other) {
  return one.place != other.place ? one.place < other.place : one.since < other.since;
}

}  // namespace

BatchQueue::BatchQueue(const Batching& batching, uint32_t most, Clock clock)
    : batching_(batching),
      most_(most),
      smallest_full_(batching.preferred_batch_size.empty() ? batching.max_batch_size
                                                           : std::ranges::min(batching.preferred_batch_size)),
      clock_(clock) {}

bool BatchQueue::TryBeginAlone() {
  const std::lock_guard lock(mutex_);
  if (batching_.max_queue_delay_microseconds > 0 || !waiting_.empty() || !has_place()) return false;
  ++alone_;
  return true;
}

void BatchQueue::EndAlone() {
  const std::lock_guard lock(mutex_);
  --alone_;
  if (!waiting_.empty()) NextToWake().notify_one();
}

// ---- Waiting

BatchQueue::Outcome BatchQueue::Wait(const BatchItemPtr& item) {
  Add(item);
  for (;;) {
    if (item->state.load(std::memory_order_acquire) == State::kDone) {
      return item->alone ? Outcome::kAlone : Outcome::kDone;
    }
    Clock::time_point until;
    if (const std::optional<Outcome> outcome = Look(item, until)) return *outcome;
    item->changed.WaitUntil(until, clock_);
  }
}

// Wakes a thread that computes batches if an item begins to wait, or if a batch may be full: not for each item.
void BatchQueue::Add(const BatchItemPtr& item) {
  std::condition_variable* woken = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto other = std::ranges::find(waiting_, item->share, [](const BatchItemPtr& one) { return one->share; });
    item->place = other == waiting_.end() ? order_.Arrive(*item->share) : (*other)->place;
    item->since = clock_.now();
    waiting_.push_back(item);
    rows_ += item->rows;
    if (waiting_.size() == 1 || rows_ >= smallest_full_) woken = &NextToWake();
  }
  if (woken != nullptr) woken->notify_one();
}

// The outcome, if the wait ends here. Else the wait looks again after a change, or at a set time.
std::optional<BatchQueue::Outcome> BatchQueue::Look(const BatchItemPtr& item, Clock::time_point& until) {
  const std::lock_guard lock(mutex_);
  const State state = item->state.load(std::memory_order_relaxed);
  const Clock::time_point now = clock_.now();
  if (state == State::kWaits && (item->cancelled || now >= item->late)) {
    Remove(item);
    return item->cancelled ? Outcome::kCancelled : Outcome::kAlone;
  }
  // It is computed by itself in the time that is left; the others may have more time.
  if (state == State::kComputes && (item->cancelled || now >= item->late)) {
    Leave(*item);
    return item->cancelled ? Outcome::kCancelled : Outcome::kAlone;
  }
  if (state == State::kComputes && now >= item->batch->late) {
    std::exchange(item->batch->cancel, [] {})();
    until = Clock::time_point::max();
  } else if (state == State::kRead && (item->cancelled || now >= item->late)) {
    until = Clock::time_point::max();  // SetRead wakes it
  } else {
    until = std::min(item->late, now + times_.LimitOf(item->shape, batching_.max_batch_size));
    if (state == State::kComputes) until = std::min(until, item->batch->late);
  }
  item->looks = until;
  return std::nullopt;
}

void BatchQueue::Remove(const BatchItemPtr& item) {
  std::erase(waiting_, item);
  rows_ -= item->rows;
  if (waiting_.empty()) order_.Rest();
}

// The batch goes on for the other items, if there are any.
void BatchQueue::Leave(BatchItem& item) {
  item.left = true;
  if (++item.batch->left == item.batch->items.size()) std::exchange(item.batch->cancel, [] {})();
}

void BatchQueue::Cancel(BatchItem& item) {
  {
    const std::lock_guard lock(mutex_);
    item.cancelled = true;
  }
  item.changed.Raise();
}

bool BatchQueue::IsSuspect(const Share& share) const {
  const std::lock_guard lock(mutex_);
  return suspects_.Has(share.guest());
}

void BatchQueue::NoteAlone(const Share& share, const std::string& shape, uint32_t rows, bool ok, Clock::duration took) {
  const std::lock_guard lock(mutex_);
  suspects_.Set(share.guest(), !ok || took >= times_.LimitOf(shape, rows));
  if (ok) times_.Learn(shape, rows, took);
}

// ---- Choosing a batch

uint32_t BatchQueue::PreferredWithin(uint32_t rows) const {
  uint32_t best = 0;
  for (const uint32_t size : batching_.preferred_batch_size) {
    if (size <= rows) best = std::max(best, size);
  }
  return best;
}

// The number of rows of a batch of this shape, if it should begin now. Else the batch begins at `later`, or before.
std::optional<uint32_t> BatchQueue::RowsOf(const Waiting& shape, Clock::time_point now,
                                           Clock::time_point& later) const {
  if (shape.rows >= batching_.max_batch_size) return batching_.max_batch_size;
  const Clock::time_point end = shape.oldest + std::chrono::microseconds(batching_.max_queue_delay_microseconds);
  if (now >= end) return batching_.max_batch_size;
  later = std::min(later, end);
  if (const uint32_t preferred = PreferredWithin(static_cast<uint32_t>(shape.rows)); preferred > 0) return preferred;
  return std::nullopt;
}

// The shape and the number of rows of the next batch, if one should begin now. Items that wait for others of their
// shape hold up no batch of another shape. One pass, because guests determine how many shapes there are.
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

// Takes the next item of those that fit.
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
  if (batch->items.empty()) TakeOne(*batch, shape, batching_.max_batch_size);  // larger than the preferred size
  if (waiting_.empty()) {
    order_.Rest();
  } else {
    NextToWake().notify_one();  // another thread looks at the rest
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
  item->changed.Raise();
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
    if (waiting_.empty() || !has_place()) {
      ++idle_;
      wake_.wait(lock);
      --idle_;
      continue;
    }
    Clock::time_point later = Clock::time_point::max();
    try {
      if (const std::optional<Choice> choice = Choose(clock_.now(), later)) return TakeNext(*choice);
      ++idle_;
      clock_.Wait(wake_, lock, later);
      --idle_;
    } catch (const std::bad_alloc&) {
      GiveUpFirst();
    }
  }
}

// ---- Computing a batch

void BatchQueue::SetRead(Batch& batch, std::function<void()> cancel) {
  const std::lock_guard lock(mutex_);
  batch.cancel = std::move(cancel);
  const Clock::time_point now = clock_.now();
  for (const BatchItemPtr& item : batch.items) {
    item->state.store(State::kComputes, std::memory_order_relaxed);
    if (item->cancelled || now >= item->late) item->changed.Raise();
  }
}

void BatchQueue::SetBegun(Batch& batch) {
  const std::lock_guard lock(mutex_);
  const std::chrono::nanoseconds limit = times_.LimitOf(batch.items.front()->shape, batch.rows);
  batch.since = clock_.now();
  batch.late = batch.since + limit;
  for (const BatchItemPtr& item : batch.items) {
    item->begun = batch.since;
    // An item that came before the time of a batch was known would look far too late.
    if (item->looks != Clock::time_point::max() && item->looks > batch.late + limit) item->changed.Raise();
  }
}

void BatchQueue::End(Batch& batch, bool ok) noexcept {
  {
    const std::lock_guard lock(mutex_);
    batch.cancel = nullptr;
    if (ok) times_.Learn(batch.items.front()->shape, batch.rows, clock_.now() - batch.since);
    const auto counts = std::ranges::find(batch.items, false, [](const BatchItemPtr& item) { return item->left; });
    if (ok && counts != batch.items.end()) (*counts)->batch_rows = batch.rows;
    for (const BatchItemPtr& item : batch.items) SetDone(*item, !ok);
    --computing_;
    // The caller may need a context first, and then waits until no thread is idle: an idle thread gets the free place.
    if (!waiting_.empty()) NextToWake().notify_one();
  }
  for (const BatchItemPtr& item : batch.items) item->changed.Raise();
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

size_t BatchQueue::idle() const {
  const std::lock_guard lock(mutex_);
  return idle_;
}

}  // namespace wasinn::core
