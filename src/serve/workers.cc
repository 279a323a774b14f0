#include "serve/workers.h"

#include <algorithm>
#include <new>

#include "serve/log.h"

namespace wasinn::serve {
namespace {

size_t ButAQuarter(size_t all) { return all - std::min(all, std::max<size_t>(1, all / 4)); }

bool IsGone(const Workers::Job& job) { return job.cancellation != nullptr && job.cancellation->is_cancelled(); }

// A job that throws, for want of memory, must not end the others.
void Call(const auto& function, const auto&... arguments) {
  try {
    function(arguments...);
  } catch (const std::exception& error) {
    LogError(error.what());
  }
}

}  // namespace

Workers::Workers(const Limits& limits) : n_threads_(limits.threads), most_(limits.most), patience_(limits.patience) {
  for (size_t i = 0; i < limits.threads; ++i) threads_.emplace_back([this] { Serve(); });
}

bool Workers::Waiting::IsOver() const { return IsGone(job) || std::chrono::steady_clock::now() >= until; }

void Workers::Refuse(const Waiting& waiting) {
  Call(waiting.job.refuse, IsGone(waiting.job) ? Failure{WASINN_ERROR_UNAVAILABLE, "nobody waits for it any more"}
                                               : TryAgain("it has waited for a thread for too long"));
}

void Workers::Refuse(const Queue::Items& items) {
  for (const auto& [place, item] : items) Refuse(item.value);
}

void Workers::TakeOver(Queue::Items& over) {
  waiting_.Remove([this](const Waiting& one) { return stopped_ || one.IsOver(); }, over);
  Leave(over);
}

// A place that has no job yet may always have one: there are no more of these than places.
bool Workers::IsFullFor(Place place) const {
  const bool is_full = waiting_.size() + n_running_ >= most_;
  const auto found = of_place_.find(place);
  if (place == kNoPlace) return is_full;
  const size_t jobs = found == of_place_.end() ? 0 : found->second.jobs;
  return is_full && jobs > 0;
}

// The last job of another place that has more than three quarters of all that may wait; else an empty node.
Workers::Queue::Node Workers::PopOfCrowd(Place place) {
  return waiting_.PopLast([this, place](const Waiting& one) {
    const auto of = of_place_.find(one.job.place);
    return one.job.place != place && of != of_place_.end() && of->second.jobs > ButAQuarter(most_);
  });
}

// The last quarter of the shared threads is for shares that have none.
bool Workers::MayShare(const Job& job) const {
  if (n_shared_ >= n_threads_) return false;
  const auto place = of_place_.find(job.place);
  if (place != of_place_.end() && place->second.n_shared >= ButAQuarter(n_threads_)) return false;
  if (job.share->is_alone()) return true;
  const auto running = of_share_.find(job.share->id());
  const bool has_some = running != of_share_.end() && running->second > 0;
  return !has_some || n_shared_ < ButAQuarter(n_threads_);
}

bool Workers::MayRun(const Job& job) const {
  if (MayShare(job)) return true;
  const auto place = of_place_.find(job.place);
  return place != of_place_.end() && !place->second.has_own;
}

// False: there is no thread that could do its jobs. Each place that has some brings one.
bool Workers::Enter(Place place) {
  if (place == kNoPlace) return true;
  if (of_place_[place].jobs++ == 0) ++n_places_;
  try {
    while (threads_.size() < n_threads_ + n_places_) threads_.emplace_back([this] { Serve(); });
  } catch (const std::exception& error) {  // the system has none for it
    LogError(error.what());
  }
  if (!threads_.empty()) return true;
  Leave(place);
  return false;
}

void Workers::Leave(Place place) {
  if (place != kNoPlace && --of_place_.find(place)->second.jobs == 0) --n_places_;
}

void Workers::Leave(const Queue::Items& items) {
  for (const auto& [turn, item] : items) Leave(item.value.job.place);
}

void Workers::Push(Queue::Node one, const Share& share, Place place) {
  try {
    waiting_.Push(std::move(one), share);
  } catch (...) {
    Leave(place);
    throw;
  }
}

Workers::Begun Workers::BeginOne(const Job& job) {
  Begun begun;
  ++n_running_;
  const auto place = of_place_.find(job.place);
  begun.is_own = place != of_place_.end() && !place->second.has_own;
  if (begun.is_own) {
    place->second.has_own = true;
    return begun;
  }
  ++n_shared_;
  if (place != of_place_.end()) ++place->second.n_shared;
  if (job.share->is_alone()) return begun;
  try {
    ++of_share_[job.share->id()];
    begun.share = job.share->id();
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): then it counts nowhere
  }
  return begun;
}

void Workers::EndOne(Place of, const Begun& begun) {
  --n_running_;
  const auto place = of_place_.find(of);
  if (begun.is_own) {
    place->second.has_own = false;
  } else {
    --n_shared_;
    if (place != of_place_.end()) --place->second.n_shared;
  }
  if (begun.share && --of_share_[*begun.share] == 0) of_share_.erase(*begun.share);
  Leave(of);
}

bool Workers::Begin(Job job) {
  const Share& share = *job.share;
  const Place place = job.place;
  Queue::Node one = Queue::Make({std::move(job), std::chrono::steady_clock::now() + patience_});
  Queue::Items over, displaced;
  bool begun = false;
  {
    const std::lock_guard lock(mutex_);
    if (IsFullFor(place)) TakeOver(over);
    if (IsFullFor(place)) displaced.insert(waiting_.PopLastFor(share));
    if (IsFullFor(place) && displaced.empty()) displaced.insert(PopOfCrowd(place));
    Leave(displaced);
    begun = !stopped_ && (!IsFullFor(place) || !displaced.empty()) && Enter(place);
    if (begun) Push(std::move(one), share, place);
  }
  if (begun) wake_.notify_one();
  Refuse(over);
  for (const auto& [turn, item] : displaced) Call(item.value.job.refuse, TooMany());
  return begun;
}

void Workers::Serve() {
  for (;;) {
    Queue::Node mine;
    Begun begun;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] {
        if (!mine) mine = waiting_.PopFirst([this](const Waiting& one) { return MayRun(one.job); });
        return stopped_ || mine;
      });
      if (!mine) return;
      begun = BeginOne(mine.mapped().value.job);
    }
    const Waiting& waiting = mine.mapped().value;
    waiting.IsOver() ? Refuse(waiting) : Call(waiting.job.run);
    const Place place = waiting.job.place;
    mine = {};  // what it holds goes before its place is another's
    const std::lock_guard lock(mutex_);
    EndOne(place, begun);
  }
}

void Workers::Sweep() {
  Queue::Items over;
  {
    const std::lock_guard lock(mutex_);
    TakeOver(over);
  }
  Refuse(over);
}

Workers::Load Workers::Look() const {
  const std::lock_guard lock(mutex_);
  return {n_threads_, n_running_, waiting_.size()};
}

void Workers::Close() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_all();
  Sweep();
}

void Workers::Stop() {
  Close();
  threads_.clear();  // waits for each
}

}  // namespace wasinn::serve
