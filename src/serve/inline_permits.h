// How many of the threads that read and write may compute meanwhile: all but one, which tells health and takes what comes next.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>

namespace wasinn::serve {

// Any thread. It outlives its permits.
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
    return Permit(left_);
  }

 private:
  std::atomic<size_t> left_;
};

}  // namespace wasinn::serve
