#include "serve/threads/workers.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
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

Workers::Workers(const Limits& limits)
    : n_threads_(limits.threads),
      most_(limits.most),
      patience_(limits.patience),
      long_job_(limits.long_job),
      usual_priority_(::getpriority(PRIO_PROCESS, 0)) {
  const std::lock_guard lock(mutex_);
  AddThreads();
}

void Workers::AddThreads() {
  while (threads_.size() < n_threads_ + n_places_ && !stopped_) {
    running_.reserve(threads_.size() + left_.size() + 1);
    left_.reserve(threads_.size() + left_.size() + 1);
    threads_.emplace_back([this] { Serve(); });
  }
}

void Workers::TryAddThreads() {
  try {
    AddThreads();
  } catch (const std::exception& error) {  // the system has none
    LogError(error.what());
  }
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
  TryAddThreads();
  if (!threads_.empty()) return true;
  Leave(place);
  return false;
}

void Workers::Leave(Place place) {
  if (place == kNoPlace) return;
  const auto found = of_place_.find(place);
  if (--found->second.jobs > 0) return;
  --n_places_;
  if (!found->second.is_long) of_place_.erase(found);
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

void Workers::BeginOne(const Job& job, Begun& begun) {
  begun.place = job.place;
  begun.thread = ::gettid();
  begun.since = std::chrono::steady_clock::now();
  running_.push_back(&begun);
  ++n_running_;
  const auto place = of_place_.find(job.place);
  if (place != of_place_.end() && place->second.is_long) Lower(begun);
  begun.is_own = place != of_place_.end() && !place->second.has_own;
  if (begun.is_own) {
    place->second.has_own = true;
    return;
  }
  ++n_shared_;
  if (place != of_place_.end()) ++place->second.n_shared;
  if (job.share->is_alone()) return;
  try {
    ++of_share_[job.share->id()];
    begun.share = job.share->id();
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): then it counts nowhere
  }
}

void Workers::EndOne(const Begun& begun) {
  std::erase(running_, &begun);
  --n_running_;
  const auto place = of_place_.find(begun.place);
  if (place != of_place_.end() && std::chrono::steady_clock::now() - begun.since < long_job_)
    place->second.is_long = false;
  if (begun.is_own) {
    place->second.has_own = false;
  } else {
    --n_shared_;
    if (place != of_place_.end()) --place->second.n_shared;
  }
  if (begun.share && --of_share_[*begun.share] == 0) of_share_.erase(*begun.share);
  Leave(begun.place);
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
  bool is_lowered = false;
  while (RunOne(is_lowered)) {
  }
}

// False: the thread ends. One with a lower priority takes long jobs alone, and ends if there is none.
bool Workers::RunOne(bool& is_lowered) {
  Queue::Node mine;
  Begun begun{.is_lowered = is_lowered};
  {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] {
      if (!mine)
        mine =
            waiting_.PopFirst([&](const Waiting& one) { return MayRun(one.job) && (!is_lowered || IsLong(one.job)); });
      return stopped_ || mine || is_lowered;
    });
    if (!mine && !stopped_) Leave();
    if (!mine) return false;
    BeginOne(mine.mapped().value.job, begun);
  }
  const Waiting& waiting = mine.mapped().value;
  waiting.IsOver() ? Refuse(waiting) : Call(waiting.job.run);
  mine = {};  // what it holds goes before its place is another's
  const std::lock_guard lock(mutex_);
  EndOne(begun);
  is_lowered = begun.is_lowered;
  return true;
}

bool Workers::IsLong(const Job& job) const {
  const auto place = of_place_.find(job.place);
  return place != of_place_.end() && place->second.is_long;
}

void Workers::LowerLongJobs() {
  const auto now = std::chrono::steady_clock::now();
  for (Begun* const begun : running_) {
    if (begun->is_lowered || now - begun->since < long_job_) continue;
    Lower(*begun);
    if (const auto place = of_place_.find(begun->place); place != of_place_.end()) place->second.is_long = true;
  }
}

// Only the system's administrator may raise a priority again, and a thread's own threads have it, too. So such a thread ends, and another one
// makes the next.
void Workers::Lower(Begun& begun) {
  constexpr int kLower = 10, kLowest = 19;
  const int lowered = std::min(usual_priority_ + kLower, kLowest);
  begun.is_lowered = ::setpriority(PRIO_PROCESS, static_cast<id_t>(begun.thread), lowered) == 0;
}

// The calling thread. What waits is for others.
void Workers::Leave() {
  const auto mine = std::ranges::find(threads_, std::this_thread::get_id(), &std::jthread::get_id);
  left_.push_back(std::move(*mine));
  threads_.erase(mine);
  wake_.notify_one();
}

void Workers::Sweep() {
  Queue::Items over;
  std::vector<std::jthread> left;
  {
    const std::lock_guard lock(mutex_);
    left.reserve(left_.capacity());
    LowerLongJobs();
    TakeOver(over);
    TryAddThreads();
    std::swap(left, left_);
  }
  Refuse(over);
}

Workers::Load Workers::Look() const {
  const std::lock_guard lock(mutex_);
  return {n_threads_, n_running_, waiting_.size(), of_place_.size()};
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
  left_.clear();
}

}  // namespace wasinn::serve
