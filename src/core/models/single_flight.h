// Makes an object once for many callers: a compiled model, an opened framework. The first caller makes it, on its own
// thread and under no lock. Later callers wait for it, until their own deadlines.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "core/runtime/watchdog.h"
#include "core/status.h"

namespace wasinn::core {

// How long a caller waits for others that make the object, one after the other if one fails.
struct WaitOptions {
  Watchdog* watchdog = nullptr;             // NULL: no deadline
  std::chrono::milliseconds deadline{0};    // 0: none
  const std::atomic<bool>* stop = nullptr;  // becomes true: the wait ends
  Clock::time_point since = clock().now();

  Clock clock() const { return watchdog == nullptr ? Clock() : watchdog->clock(); }
  // The rest of the deadline; 0 if there is none, else not 0.
  std::chrono::milliseconds left() const;
  // The deadline has passed, or `stop` is true.
  bool is_over() const;
};

// One attempt to make the object, for the callers that wait for its end.
class Attempt {
 public:
  void End(Status failure);
  // How it ended, or TIMEOUT. `what` is for that message: "model 'x'".
  Status Wait(const WaitOptions& wait, const std::string& what);

 private:
  Status WaitWatched(const WaitOptions& wait, const std::string& what);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  Status failure_;
};

// T is cheap to copy, like a shared_ptr. Thread-safe.
template <typename T>
class SingleFlight {
 public:
  // A failure is for all callers that waited; or only for the one that made the object, if each has limits of its own.
  enum class Failures : uint8_t { kOfAll, kOfOne };
  SingleFlight() = default;
  explicit SingleFlight(Failures failures) : failures_(failures) {}

  // A failure is not remembered, since its cause may be repaired. All callers that waited for it get it, except with
  // kOfOne, or if the maker's own wait was over: then the next caller tries.
  template <typename Make>
  Result<T> Get(const WaitOptions& wait, const std::string& what, Make&& make) {
    for (;;) {
      std::shared_ptr<Attempt> attempt, mine;
      {
        const std::lock_guard lock(mutex_);
        if (made_) return *made_;
        attempt = attempt_;
        if (attempt == nullptr) mine = attempt_ = std::make_shared<Attempt>();
      }
      if (mine != nullptr) return Try(mine, wait, std::forward<Make>(make));
      RETURN_IF_ERROR(attempt->Wait(wait, what));
    }
  }

  // The next caller makes it again.
  template <typename Predicate>
  void ForgetIf(Predicate&& predicate) {
    std::optional<T> forgotten;  // freed after the lock
    const std::lock_guard lock(mutex_);
    if (made_ && predicate(*made_)) forgotten.swap(made_);
  }

  // As above, even during an attempt: callers that wait for that attempt get the next one.
  void Forget() {
    std::optional<T> forgotten;  // freed after the lock
    const std::lock_guard lock(mutex_);
    forgotten.swap(made_);
    attempt_.reset();
  }

  // Sets the object, even during an attempt.
  void Set(T made) {
    std::optional<T> last(std::move(made));  // freed after the lock
    const std::lock_guard lock(mutex_);
    last.swap(made_);
    attempt_.reset();
  }

  // The object, if it has been made.
  std::optional<T> Peek() const {
    const std::lock_guard lock(mutex_);
    return made_;
  }
  // No attempt is under way.
  bool is_idle() const {
    const std::lock_guard lock(mutex_);
    return attempt_ == nullptr;
  }

 private:
  template <typename Make>
  Result<T> Try(const std::shared_ptr<Attempt>& mine, const WaitOptions& wait, Make&& make) {
    try {
      Result<T> result = make();
      const bool is_of_one = !result && result.error().code() == WASINN_ERROR_TIMEOUT && wait.is_over();
      End(*mine, result, is_of_one ? Failures::kOfOne : failures_);
      return result;
    } catch (...) {
      End(*mine, std::unexpected(Status()), Failures::kOfOne);  // each waiting caller tries itself
      throw;
    }
  }

  void End(Attempt& mine, const Result<T>& result, Failures whose) {
    Status failure;
    if (!result && whose == Failures::kOfAll) {
      try {
        failure = Copy(result.error());
      } catch (const std::bad_alloc&) {  // then each waiting caller tries itself
        failure = Status();
      }
    }
    {
      const std::lock_guard lock(mutex_);
      if (attempt_.get() == &mine) {  // else it was forgotten in the meantime
        if (result) made_ = *result;
        attempt_.reset();
      }
    }
    mine.End(std::move(failure));
  }

  const Failures failures_ = Failures::kOfAll;
  mutable std::mutex mutex_;  // held for a few instructions
  std::optional<T> made_;
  std::shared_ptr<Attempt> attempt_;  // the current one
};

}  // namespace wasinn::core
