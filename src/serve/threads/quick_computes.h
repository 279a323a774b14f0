// Quick computes on threads that also read and write: how many at once, and whose turn it is.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "serve/threads/fair_queue.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

// Limits the inline computes on the threads that read and write. If all compute, an idle worker reads and writes.
// Thread-safe. Outlives its permits.
class InlinePermits {
 public:
  explicit InlinePermits(size_t most) : left_(most) {}

  struct GiveBack {
    void operator()(std::atomic<size_t>* left) const { left->fetch_add(1, std::memory_order_release); }
  };
  using Permit = std::unique_ptr<std::atomic<size_t>, GiveBack>;
  // NULL: there is none left.

  Permit Take() {
    size_t left = left_.load(std::memory_order_relaxed);
    do {
      if (left == 0) return nullptr;
    } while (!left_.compare_exchange_weak(left, left - 1, std::memory_order_acquire, std::memory_order_relaxed));
    Wake();
    return Permit(&left_);
  }

  bool has_left() const { return left_.load(std::memory_order_relaxed) > 0; }
  // How many permits were ever taken, modulo 2³².
  uint32_t n_taken() const { return n_taken_.load(std::memory_order_acquire); }
  // Waits until more were taken.
  void AwaitTaken(uint32_t seen) const { n_taken_.wait(seen, std::memory_order_acquire); }
  // Wakes AwaitTaken. Without a waiter it makes no system call: the number is written before the library looks for one,
  // which a relaxed operation would not ensure on ARM.
  void Wake() {
    n_taken_.fetch_add(1, std::memory_order_acq_rel);
    n_taken_.notify_all();
  }

 private:
  std::atomic<size_t> left_;
  std::atomic<uint32_t> n_taken_{0};
};

// A thread that reads and writes only while all threads that normally do so are busy for longer than a quick compute.
// If it always did, the system would preempt computes for it, and requests would wait for milliseconds.
class IdleWorker {
 public:
  // The arguments outlive it. There is one permit for every thread of the context.
  IdleWorker(boost::asio::io_context& context, InlinePermits& permits)
      : context_(context), permits_(permits), thread_([this] { Watch(); }) {}
  ~IdleWorker() {
    is_stopped_.store(true, std::memory_order_release);
    permits_.Wake();
  }
  IdleWorker(const IdleWorker&) = delete;
  IdleWorker& operator=(const IdleWorker&) = delete;

 private:
  void Watch();
  void HelpOut();

  boost::asio::io_context& context_;
  InlinePermits& permits_;
  std::atomic<bool> is_stopped_{false};
  std::jthread thread_;  // last: it uses all other members
};

namespace asio = boost::asio;

// Chooses whose request is computed next on the threads that read and write, if there are several tenants. Between two
// requests it looks for new ones, so that a tenant with few requests does not wait behind another's many. Thread-safe.
class InlineTurns {
 public:
  // `threads`: of the context, which outlives this object.
  InlineTurns(asio::io_context& context, size_t threads) : context_(context), most_(threads) {}

  // Waits for the turn of `share`, which must live until then. The caller continues on its own executor.
  asio::awaitable<void> Await(const Share& share) {
    return asio::async_initiate<const asio::use_awaitable_t<>, void()>(
        [this, &share](auto done) {
          auto shared = std::make_shared<decltype(done)>(std::move(done));
          Push(
              [shared] {
                const auto executor = asio::get_associated_executor(*shared);
                asio::dispatch(executor, [shared] { std::move (*shared)(); });
              },
              share);
        },
        asio::use_awaitable);
  }

 private:
  using Queue = FairQueue<std::function<void()>>;

  void Push(std::function<void()> go_on, const Share& share);
  // Serves one waiting request; the next one after all events that have come by then.
  void ServeOne();
  // Returns false without memory.
  bool Post();

  asio::io_context& context_;
  const size_t most_;
  std::mutex mutex_;  // guards the members below
  Queue waiting_;
  size_t n_serving_ = 0;
};

// Quick computes on a few threads that also read and write, like gRPC's: all but one of them may compute. Further
// requests wait for one of these threads, which saves waking another; none waits behind a slow compute. Thread-safe.
class QuickLane {
 public:
  // `workers` outlives it.
  QuickLane(size_t threads, Workers& workers) : most_(threads - 1), workers_(workers) {}

  // Runs the job on this thread, or after a running job, or on a worker. Otherwise like Workers::Begin.
  [[nodiscard]] bool Run(Workers::Job job);
  // Hands jobs behind a slow one to the workers. Called periodically.
  void Sweep();

 private:
  using Clock = std::chrono::steady_clock;

  bool IsMoving() const;  // needs `mutex_`

  const size_t most_;
  Workers& workers_;
  std::mutex mutex_;  // guards the members below
  size_t n_running_ = 0;
  Clock::time_point last_begun_;
  FairQueue<Workers::Job> waiting_;
};

}  // namespace wasinn::serve
