#include "serve/threads/quick_computes.h"

#include <boost/asio/post.hpp>

#include <exception>
#include <new>

#include "serve/log.h"

namespace wasinn::serve {

namespace {

// No quick compute takes longer: repository.cc.
constexpr std::chrono::milliseconds kLook{2};
// After this many looks without a new compute it sleeps until one begins.
constexpr int kMaxIdleLooks = 50;

}  // namespace

void IdleWorker::Watch() {
  uint32_t seen = permits_.n_taken();
  for (int idle = 0; !is_stopped_.load(std::memory_order_acquire);) {
    if (idle == kMaxIdleLooks) permits_.AwaitTaken(seen);
    std::this_thread::sleep_for(kLook);
    const uint32_t now = permits_.n_taken();
    const bool stands_still = now == seen;
    idle = stands_still ? idle + 1 : 0;
    seen = now;
    if (stands_still && !permits_.has_left()) HelpOut();
  }
}

void IdleWorker::HelpOut() {
  while (!permits_.has_left() && !context_.stopped()) {
    try {
      context_.run_one_for(kLook);
    } catch (const std::exception& error) {  // out of memory ends only what was begun
      LogError(error.what());
    }
  }
}

namespace {

// An exception (out of memory) must not end the turns of others.
void Call(const std::function<void()>& go_on) {
  try {
    go_on();
  } catch (const std::exception& error) {
    LogError(error.what());
  }
}

}  // namespace

void InlineTurns::Push(std::function<void()> go_on, const Share& share) {
  auto node = Queue::Make(std::move(go_on));
  {
    const std::lock_guard lock(mutex_);
    waiting_.Push(std::move(node), share);
    if (n_serving_ == most_) return;
    ++n_serving_;
  }
  if (!Post()) ServeOne();
}

bool InlineTurns::Post() {
  try {
    asio::post(context_, [this] { ServeOne(); });
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void InlineTurns::ServeOne() {
  do {
    Queue::Node next;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) {
        --n_serving_;
        return;
      }
      next = waiting_.PopFirst();
    }
    Call(next.mapped().value);
  } while (!Post());
}

namespace {

// No quick compute takes longer: repository.cc.
constexpr std::chrono::milliseconds kQuick{1};
constexpr size_t kMaxBehind = 64;

}  // namespace

bool QuickLane::IsMoving() const { return Clock::now() - last_begun_ < kQuick; }

bool QuickLane::Run(Workers::Job job) {
  const Share& share = *job.share;
  const bool is_alone = share.is_alone();
  auto mine = FairQueue<Workers::Job>::Make(std::move(job));
  std::unique_lock lock(mutex_);
  if (n_running_ == most_) {
    if (waiting_.size() < kMaxBehind && IsMoving()) {
      waiting_.Push(std::move(mine), share);
      return true;
    }
    lock.unlock();
    return workers_.Begin(std::move(mine.mapped().value));
  }
  for (++n_running_;; mine = waiting_.PopFirst()) {
    last_begun_ = Clock::now();
    lock.unlock();
    mine.mapped().value.run();
    mine = {};
    // Lets other threads read new requests, even on the same processor: it may be another tenant's turn.
    if (!is_alone) std::this_thread::yield();
    lock.lock();
    if (waiting_.empty()) break;
  }
  --n_running_;
  return true;
}

void QuickLane::Sweep() {
  FairQueue<Workers::Job>::Items stuck;
  {
    const std::lock_guard lock(mutex_);
    while (!waiting_.empty() && !IsMoving()) stuck.insert(waiting_.PopFirst());
  }
  for (auto& [place, item] : stuck) {
    if (Workers::Job& job = item.value; !workers_.Begin(job)) job.refuse(Workers::TooMany());
  }
}

}  // namespace wasinn::serve
