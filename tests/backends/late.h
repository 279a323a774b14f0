// A thread that gets the CPU late, as on a busy machine.
#pragma once

#include <atomic>

namespace wasinn::test {

// Holds a thread between its wake-up from its first wait on a std::condition_variable and the moment when it gets the
// lock again.
class Late {
 public:
  // The thread that is to be late is the one that this is on.
  class Here {
   public:
    explicit Here(Late* late);
    ~Here();
    Here(const Here&) = delete;
    Here& operator=(const Here&) = delete;

   private:
    Late* const late_;
  };

  // That it waits, or has ended.
  bool HasBegun() const { return state_ != State::kNone; }
  void AwaitBegun() const { Await(State::kWaits); }
  // False: it has ended without a wait.
  bool AwaitHeld() const {
    Await(State::kHeld);
    return state_ == State::kHeld;
  }
  void Release();

  // In place of the wait itself.
  template <typename Wait, typename Lock>
  void Hold(const Wait& wait, Lock* lock) {
    Enter(State::kWaits);
    wait();
    lock->unlock();
    Enter(State::kHeld);
    released_.wait(false);
    lock->lock();
  }

 private:
  enum class State : int { kNone, kWaits, kHeld, kEnded };

  void Enter(State state);
  void Await(State state) const;

  std::atomic<State> state_ = State::kNone;
  std::atomic<bool> released_ = false;
};

}  // namespace wasinn::test
