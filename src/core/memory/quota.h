// Limits on what one guest may hold. A Reservation is the right to a part of a quota; its destructor gives it back.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/status.h"

namespace wasinn::core {

class Quota {
 public:
  // How often all quotas of a setting have refused.
  using Refusals = std::atomic<uint64_t>;
  // Taken units also count for `whole`, if there is one, which other quotas share. `refusals`, which may be NULL,
  // outlives it.
  Quota(const char* what, const char* setting, uint64_t limit, std::shared_ptr<Quota> whole = nullptr,
        Refusals* refusals = nullptr)
      : what_(what), setting_(setting), limit_(limit), whole_(std::move(whole)), refusals_(refusals) {}
  Quota(const Quota&) = delete;
  Quota& operator=(const Quota&) = delete;

  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  uint64_t limit() const { return limit_; }

  // Changes a holding from `held` to `wanted` units. Shrinking never fails.
  Status Resize(uint64_t held, uint64_t wanted) {
    if (wanted > held) return Take(wanted - held);
    GiveBack(held - wanted);
    return Status();
  }

  // Threads may race; together they never exceed the limit.
  Status Take(uint64_t more) {
    uint64_t used = used_.load(std::memory_order_relaxed);
    do {
      if (used > limit_ || more > limit_ - used) {
        if (refusals_ != nullptr) refusals_->fetch_add(1, std::memory_order_relaxed);
        return Error(WASINN_ERROR_TOO_LARGE, "{} more {} would exceed the limit of {} ({} held; {})", more, what_,
                     limit_, used, setting_);
      }
    } while (!used_.compare_exchange_weak(used, used + more, std::memory_order_relaxed));
    if (whole_ == nullptr) return Status();
    return TakeOfWhole(more);
  }
  void GiveBack(uint64_t less) {
    used_.fetch_sub(less, std::memory_order_relaxed);
    if (whole_ != nullptr) whole_->GiveBack(less);
  }

 private:
  // A holder must not learn what others hold.
  [[gnu::noinline]] Status TakeOfWhole(uint64_t more) {
    Status status = whole_->Take(more);
    if (status.ok()) return status;
    used_.fetch_sub(more, std::memory_order_relaxed);
    if (whole_->setting_ == setting_) return status;  // of the same holder
    return Error(WASINN_ERROR_TOO_LARGE, "{} more {} would exceed the limit of {} for {} ({})", more, what_,
                 whole_->limit_, whole_->what_, whole_->setting_);
  }

  const char* const what_;     // "bytes of tensors", for messages
  const char* const setting_;  // "limits.max_tensor_bytes", for messages
  const uint64_t limit_;
  const std::shared_ptr<Quota> whole_;  // for all guests together, or for the same setting of a larger unit
  Refusals* const refusals_;
  std::atomic<uint64_t> used_{0};
};

// Holds a part of a quota; belongs to one thread at a time. The quota must outlive it.
class Reservation {
 public:
  Reservation() = default;
  explicit Reservation(Quota& quota) : quota_(&quota) {}
  Reservation(Reservation&& other) noexcept : quota_(other.quota_), held_(std::exchange(other.held_, 0)) {}
  Reservation& operator=(Reservation&& other) noexcept {
    std::swap(quota_, other.quota_);
    std::swap(held_, other.held_);
    return *this;
  }
  ~Reservation() {
    if (held_ > 0) (void)quota_->Resize(held_, 0);
  }

  // An error changes nothing.
  Status Resize(uint64_t wanted) {
    if (wanted == held_) return Status();
    Status status = quota_->Resize(held_, wanted);
    if (status.ok()) held_ = wanted;
    return status;
  }
  uint64_t held() const { return held_; }

  // Moves `units`, or all, to another reservation. Cannot fail, and neither can Merge.
  Reservation Split(uint64_t units) {
    Reservation part;
    part.quota_ = quota_;
    part.held_ = units < held_ ? units : held_;
    held_ -= part.held_;
    return part;
  }
  // From now on the caller holds the units, and gives them back to the quota itself.
  void Release() { held_ = 0; }
  // `part` must be of the same quota.
  void Merge(Reservation part) { held_ += std::exchange(part.held_, 0); }

 private:
  Quota* quota_ = nullptr;
  uint64_t held_ = 0;
};

}  // namespace wasinn::core
