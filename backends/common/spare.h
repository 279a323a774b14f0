// Memory of outputs that callers take with them, and that comes back for the next run.
#ifndef WASINN_BACKENDS_COMMON_SPARE_H_
#define WASINN_BACKENDS_COMMON_SPARE_H_

#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "common/reservation.h"

namespace wasinn::backend {

// Where what was taken of one output comes back to: the context that made it, so that nobody else sees what was in it.
// A context is charged for each output once. So what comes back is kept only while nothing stands in its place, and
// never beyond the context; where the framework has the output's memory all the time, it is charged beside that. T has
// a `buffer`, and a member `home` for our use. Any thread.
template <typename T>
class Spare {
 public:
  class Home {
   public:
    explicit Home(Reservation kept) : kept_(std::move(kept)) {}
    void Give(std::unique_ptr<T> memory) {
      const std::lock_guard lock(mutex_);
      if (!is_missing_ || memory_ != nullptr) return;
      try {
        kept_.Resize(memory->buffer.capacity());
      } catch (const std::exception&) {
        return;
      }
      memory_ = std::move(memory);
    }
    std::unique_ptr<T> Change(bool is_missing) {
      const std::lock_guard lock(mutex_);
      is_missing_ = is_missing;
      kept_.Resize(0);
      return std::move(memory_);
    }

   private:
    std::mutex mutex_;
    Reservation kept_;
    std::unique_ptr<T> memory_;
    bool is_missing_ = false;
  };

  Spare() : Spare(Reservation()) {}
  // `kept`: for what came back, where that is to be charged.
  explicit Spare(Reservation kept) : home_(std::make_shared<Home>(std::move(kept))) {}
  Spare(Spare&& other) noexcept = default;
  Spare& operator=(Spare&& other) noexcept {
    std::swap(home_, other.home_);
    return *this;
  }
  ~Spare() {
    if (home_ != nullptr) home_->Change(false);
  }

  // A caller takes the output's memory; Release is how it gives that back.
  void* Lend(std::unique_ptr<T> memory) {
    home_->Change(true);
    memory->home = home_;
    return memory.release();
  }
  static void Release(void* owner) {
    std::unique_ptr<T> memory(static_cast<T*>(owner));
    const std::shared_ptr<Home> home = std::move(memory->home);
    if (home != nullptr) home->Give(std::move(memory));
  }

  // For the output: what came back, or NULL. From now on it has some, which its caller makes if need be.
  std::unique_ptr<T> Take() { return home_->Change(false); }

 private:
  std::shared_ptr<Home> home_;
};

}  // namespace wasinn::backend

#endif  // WASINN_BACKENDS_COMMON_SPARE_H_
