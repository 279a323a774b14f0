// Limits the inline computes on the threads that read and write. If all compute, an idle worker reads and writes.
#pragma once

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>

namespace wasinn::serve {

// Thread-safe. Outlives its permits.
class InlinePermits {
 public:
  explicit InlinePermits(size_t most) : left_(most) {}

  class Permit {
   public:
    explicit Permit(std::atomic<size_t>& left) : left_(&left) {}
    Permit(Permit&& other) noexcept : left_(std::exchange(other.left_, nullptr)) {}
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (left_ != nullptr) left_->fetch_add(1, std::memory_order_release);
    }

   private:
    std::atomic<size_t>* left_;
  };

  std::optional<Permit> Take() {
    size_t left = left_.load(std::memory_order_relaxed);
    do {
      if (left == 0) return std::nullopt;
    } while (!left_.compare_exchange_weak(left, left - 1, std::memory_order_acquire, std::memory_order_relaxed));
    Wake();
    return Permit(left_);
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

}  // namespace wasinn::serve
