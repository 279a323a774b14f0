#include "serve/threads/workers.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "serve/log.h"

namespace wasinn::serve {
namespace {

size_t ThreeQuartersOf(size_t all) { return all - std::min(all, std::max<size_t>(1, all / 4)); }

bool IsGone(const Workers::Job& job) { return job.cancellation != nullptr && job.cancellation->is_cancelled(); }

// An exception (out of memory) must not end other jobs.
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
    idle_.reserve(threads_.size() + left_.size() + 1);
    left_.reserve(threads_.size() + left_.size() + 1);
    threads_.emplace_back([this] { Serve(); });
  }
}

void Workers::TryAddThreads() {
  try {
    AddThreads();
  } catch (const std::exception& error) {  // the system has no more threads
    LogError(error.what());
  }
}

bool Workers::Waiting::IsExpired() const { return IsGone(job) || std::chrono::steady_clock::now() >= until; }

void Workers::Refuse(const Waiting& waiting) {
  Call(waiting.job.refuse, IsGone(waiting.job) ? ClientGone() : TryAgain("the request waited too long for a thread"));
}

void Workers::Refuse(const Queue::Items& items) {
  for (const auto& [place, item] : items) Refuse(item.value);
}

void Workers::TakeExpired(Queue::Items& over) {
  waiting_.Remove([this](const Waiting& one) { return stopped_ || one.IsExpired(); }, over);
  Leave(over);
}

// A place may always have one job: their number is that of the places.
bool Workers::IsFullFor(Place place) const {
  const bool is_full = waiting_.size() + n_running_ >= most_;
  const auto found = place_states_.find(place);
  if (place == kNoPlace) return is_full;
  const size_t jobs = found == place_states_.end() ? 0 : found->second.jobs;
  return is_full && jobs > 0;
}

// Takes the last job of another place that has more than three quarters of the limit; otherwise an empty node.
Workers::Queue::Node Workers::PopFromCrowdedPlace(Place place) {
  return waiting_.PopLast([this, place](const Waiting& one) {
    const auto of = place_states_.find(one.job.place);
    return one.job.place != place && of != place_states_.end() && of->second.jobs > ThreeQuartersOf(most_);
  });
}

// The last quarter of the shared threads is for shares without a running job.
bool Workers::MayShare(const Job& job) const {
  if (n_shared_ >= n_threads_) return false;
  const auto place = place_states_.find(job.place);
  if (place != place_states_.end() && place->second.n_shared >= ThreeQuartersOf(n_threads_)) return false;
  if (job.share->is_alone()) return true;
  const auto running = running_by_share_.find(job.share->id());
  const bool has_some = running != running_by_share_.end() && running->second > 0;
  return !has_some || n_shared_ < ThreeQuartersOf(n_threads_);
}

bool Workers::MayRun(const Job& job) const {
  if (MayShare(job)) return true;
  const auto place = place_states_.find(job.place);
  return place != place_states_.end() && !place->second.has_own;
}

// False: there is no thread for its jobs. Each place with jobs adds a thread.
bool Workers::Enter(Place place) {
  if (place == kNoPlace) return true;
  if (place_states_[place].jobs++ == 0) ++n_places_;
  TryAddThreads();
  if (!threads_.empty()) return true;
  Leave(place);
  return false;
}

void Workers::Leave(Place place) {
  if (place == kNoPlace) return;
  const auto found = place_states_.find(place);
  if (--found->second.jobs > 0) return;
  --n_places_;
  if (!found->second.is_long) place_states_.erase(found);
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

void Workers::BeginOne(const Job& job, RunningJob& begun) {
  begun.place = job.place;
  begun.thread = ::gettid();
  begun.since = std::chrono::steady_clock::now();
  running_.push_back(&begun);
  ++n_running_;
  const auto place = place_states_.find(job.place);
  if (place != place_states_.end() && place->second.is_long) Lower(begun);
  begun.is_own = place != place_states_.end() && !place->second.has_own;
  if (begun.is_own) {
    place->second.has_own = true;
    return;
  }
  ++n_shared_;
  if (place != place_states_.end()) ++place->second.n_shared;
  if (job.share->is_alone()) return;
  try {
    ++running_by_share_[job.share->id()];
    begun.share = job.share->id();
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): not counted for its share
  }
}

void Workers::EndOne(const RunningJob& begun) {
  std::erase(running_, &begun);
  --n_running_;
  const auto place = place_states_.find(begun.place);
  if (place != place_states_.end() && std::chrono::steady_clock::now() - begun.since < long_job_)
    place->second.is_long = false;
  if (begun.is_own) {
    place->second.has_own = false;
  } else {
    --n_shared_;
    if (place != place_states_.end()) --place->second.n_shared;
  }
  if (begun.share && --running_by_share_[*begun.share] == 0) running_by_share_.erase(*begun.share);
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
    if (IsFullFor(place)) TakeExpired(over);
    if (IsFullFor(place)) displaced.insert(waiting_.PopLastFor(share));
    if (IsFullFor(place) && displaced.empty()) displaced.insert(PopFromCrowdedPlace(place));
    Leave(displaced);
    begun = !stopped_ && (!IsFullFor(place) || !displaced.empty()) && Enter(place);
    if (begun) {
      Push(std::move(one), share, place);
      WakeOne();
    }
  }
  Refuse(over);
  for (const auto& [turn, item] : displaced) Call(item.value.job.refuse, TooMany());
  return begun;
}

void Workers::Rest(std::unique_lock<std::mutex>& lock) {
  Idle idle;
  idle_.push_back(&idle);
  idle.wake.wait(lock, [&] { return idle.is_awake; });
}

void Workers::WakeOne() {
  if (idle_.empty()) return;
  Idle& last = *idle_.back();
  idle_.pop_back();
  last.is_awake = true;
  last.wake.notify_one();
}

void Workers::Serve() {
  bool is_lowered = false;
  while (RunOne(is_lowered)) {
  }
}

// False: the thread ends. A thread with a lower priority takes only long jobs, and ends if there is none.
bool Workers::RunOne(bool& is_lowered) {
  Queue::Node mine;
  RunningJob begun{.is_lowered = is_lowered};
  {
    std::unique_lock lock(mutex_);
    const auto may = [&](const Waiting& one) { return MayRun(one.job) && (!is_lowered || IsLong(one.job)); };
    while (!(mine = waiting_.PopFirst(may)) && !stopped_ && !is_lowered) Rest(lock);
    if (!mine && !stopped_) Leave();
    if (!mine) return false;
    BeginOne(mine.mapped().value.job, begun);
  }
  const Waiting& waiting = mine.mapped().value;
  waiting.IsExpired() ? Refuse(waiting) : Call(waiting.job.run);
  mine = {};  // destroyed before its place is free
  const std::lock_guard lock(mutex_);
  EndOne(begun);
  is_lowered = begun.is_lowered;
  return true;
}

bool Workers::IsLong(const Job& job) const {
  const auto place = place_states_.find(job.place);
  return place != place_states_.end() && place->second.is_long;
}

void Workers::LowerLongJobs() {
  const auto now = std::chrono::steady_clock::now();
  for (RunningJob* const begun : running_) {
    if (begun->is_lowered || now - begun->since < long_job_) continue;
    Lower(*begun);
    if (const auto place = place_states_.find(begun->place); place != place_states_.end()) place->second.is_long = true;
  }
}

// Only an administrator may raise a priority again, and threads inherit it. So such a thread ends, and another thread
// makes its successor.
void Workers::Lower(RunningJob& begun) {
  constexpr int kLower = 10, kLowest = 19;
  const int lowered = std::min(usual_priority_ + kLower, kLowest);
  begun.is_lowered = ::setpriority(PRIO_PROCESS, static_cast<id_t>(begun.thread), lowered) == 0;
}

// Ends the calling thread. Waiting jobs are for others.
void Workers::Leave() {
  const auto mine = std::ranges::find(threads_, std::this_thread::get_id(), &std::jthread::get_id);
  left_.push_back(std::move(*mine));
  threads_.erase(mine);
  WakeOne();
}

void Workers::Sweep() {
  Queue::Items over;
  std::vector<std::jthread> left;
  {
    const std::lock_guard lock(mutex_);
    left.reserve(left_.capacity());
    LowerLongJobs();
    TakeExpired(over);
    TryAddThreads();
    std::swap(left, left_);
  }
  Refuse(over);
}

Workers::Load Workers::Look() const {
  const std::lock_guard lock(mutex_);
  return {n_threads_, n_running_, waiting_.size(), place_states_.size(), idle_.size()};
}

void Workers::Close() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    while (!idle_.empty()) WakeOne();
  }
  Sweep();
}

void Workers::Stop() {
  Close();
  threads_.clear();  // joins them
  left_.clear();
}

}  // namespace wasinn::serve
