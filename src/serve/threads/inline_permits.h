// Limits the inline computes on the threads that read and write. If all compute, idle_worker.h reads and writes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
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
  uint32_t n_taken() const { return n_taken_.load(std::memory_order_relaxed); }
  // Waits until more were taken.
  void AwaitTaken(uint32_t seen) const { n_taken_.wait(seen, std::memory_order_relaxed); }
  // Wakes AwaitTaken. Without a waiter it makes no system call.
  void Wake() {
    n_taken_.fetch_add(1, std::memory_order_relaxed);
    n_taken_.notify_all();
  }

 private:
  std::atomic<size_t> left_;
  std::atomic<uint32_t> n_taken_{0};
};

}  // namespace wasinn::serve
