// The bytes of current requests and responses, over all transports.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "remote/http_body.h"

namespace wasinn::serve {

// Thread-safe.
class MemoryBudget {
 public:
  // `whole`: this one is a part of it, and counts there, too; NULL: it is the whole.
  explicit MemoryBudget(uint64_t most, std::shared_ptr<MemoryBudget> whole = nullptr)
      : most_(most), whole_(std::move(whole)) {}
  uint64_t most() const { return most_; }
  uint64_t held() const { return held_.load(std::memory_order_relaxed); }

 private:
  friend class Charge;
  bool Take(uint64_t bytes) {
    uint64_t held = held_.load(std::memory_order_relaxed);
    do {
      if (bytes > most_ - held) return false;
    } while (!held_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
    if (whole_ == nullptr || whole_->Take(bytes)) return true;
    held_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  void Give(uint64_t bytes) {
    held_.fetch_sub(bytes, std::memory_order_relaxed);
    if (whole_ != nullptr) whole_->Give(bytes);
  }

  const uint64_t most_;
  const std::shared_ptr<MemoryBudget> whole_;
  std::atomic<uint64_t> held_{0};
};

// Short answers about models always have room, so that health checks are answered.
inline constexpr uint64_t kMaxUncharged = 16u << 10;

// A part of it, given back at its end. One thread at a time. Keeps the budget: gRPC may free its buffers last.
class Charge {
 public:
  Charge() = default;  // of no budget, and always 0
  explicit Charge(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)) {}
  Charge(Charge&& other) noexcept : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
  Charge& operator=(Charge&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Charge() {
    if (bytes_ > 0) budget_->Give(bytes_);
  }

  // False: there is not that much left, and nothing has changed.
  [[nodiscard]] bool Add(uint64_t bytes) {
    if (budget_ == nullptr || !budget_->Take(bytes)) return bytes == 0;
    bytes_ += bytes;
    return true;
  }
  void ShrinkTo(uint64_t bytes) {
    if (bytes >= bytes_) return;
    budget_->Give(bytes_ - bytes);
    bytes_ = bytes;
  }
  uint64_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<MemoryBudget> budget_;
  uint64_t bytes_ = 0;
};

// The body of a request, charged as it comes.
using RequestBytes = remote::HttpBytes<Charge>;
using RequestBody = remote::HttpBody<Charge>;

}  // namespace wasinn::serve
