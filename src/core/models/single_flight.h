// What many ask for and one makes: a model that is compiled, a framework that is opened. Whoever comes first makes it,
// on its own thread and under no lock; who comes meanwhile waits for it, no longer than its own deadline.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include "core/runtime/watchdog.h"
#include "core/status.h"

namespace wasinn::core {

// How long a caller waits for what others make, one after the other where one of them fails.
struct WaitOptions {
  Watchdog* watchdog = nullptr;             // null: for ever
  std::chrono::milliseconds deadline{0};    // 0: none
  const std::atomic<bool>* stop = nullptr;  // becomes true: not any longer
  Clock::time_point since = clock().now();

  Clock clock() const { return watchdog == nullptr ? Clock() : watchdog->clock(); }
  // Of the deadline; 0 where there is none, else not 0.
  std::chrono::milliseconds left() const;
  // It has passed, or was ended.
  bool is_over() const;
};

// One attempt to make something, for those who wait for its end.
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

// T is cheap to copy, as a shared_ptr is. Any thread.
template <typename T>
class SingleFlight {
 public:
  // Whose a failure is: of all who waited for it; or of who made it alone, for each has limits of its own.
  enum class Failures : uint8_t { kOfAll, kOfOne };
  SingleFlight() = default;
  explicit SingleFlight(Failures failures) : failures_(failures) {}

  // A failure is not remembered, since its cause may be mended, but those who waited for it get it, unless it is of one,
  // or a timeout of one whose own wait was over: then the next one tries.
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
      if (Status status = attempt->Wait(wait, what); !status.ok()) return std::unexpected(std::move(status));
    }
  }

  // So that the next one makes it again.
  template <typename Predicate>
  void ForgetIf(Predicate&& predicate) {
    std::optional<T> forgotten;  // goes after the lock
    const std::lock_guard lock(mutex_);
    if (made_ && predicate(*made_)) forgotten.swap(made_);
  }

  // Likewise, also if somebody is making it now: whoever waits for that waits for the next one.
  void Forget() {
    std::optional<T> forgotten;  // goes after the lock
    const std::lock_guard lock(mutex_);
    forgotten.swap(made_);
    attempt_.reset();
  }

  // From here on it is this, also if somebody is making another one now.
  void Set(T made) {
    std::optional<T> last(std::move(made));  // goes after the lock
    const std::lock_guard lock(mutex_);
    last.swap(made_);
    attempt_.reset();
  }

  // If it has been made.
  std::optional<T> Peek() const {
    const std::lock_guard lock(mutex_);
    return made_;
  }
  // Nobody makes it.
  bool rests() const {
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
      End(*mine, std::unexpected(Status()), Failures::kOfOne);  // each of those who wait tries itself
      throw;
    }
  }

  void End(Attempt& mine, const Result<T>& result, Failures whose) {
    Status failure;
    if (!result && whose == Failures::kOfAll) {
      try {
        failure = Copy(result.error());
      } catch (const std::bad_alloc&) {  // then each of them tries itself
        failure = Status();
      }
    }
    {
      const std::lock_guard lock(mutex_);
      if (attempt_.get() == &mine) {  // else it was forgotten meanwhile
        if (result) made_ = *result;
        attempt_.reset();
      }
    }
    mine.End(std::move(failure));
  }

  const Failures failures_ = Failures::kOfAll;
  mutable std::mutex mutex_;  // held for a few instructions
  std::optional<T> made_;
  std::shared_ptr<Attempt> attempt_;  // under way
};

}  // namespace wasinn::core
