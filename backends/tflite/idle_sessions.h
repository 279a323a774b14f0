// What freed contexts of a model leave to its next ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "common/reservation.h"
#include "common/spare_threads.h"
#include "tflite/session.h"

namespace wasinn::tflite {

// Sessions that nobody uses, which cost memory and threads all the same. Any thread.
class IdleSessions {
 public:
  // `most` of them. `threads`: which those with more than one share, of all models; `kept`: for their memory.
  IdleSessions(size_t most, backend::SpareThreads* threads, backend::Reservation kept);
  IdleSessions(const IdleSessions&) = delete;
  IdleSessions& operator=(const IdleSessions&) = delete;

  // One with so many threads; NULL: there is none.
  std::unique_ptr<Session> Take(int threads);
  // One that was reset, with `bytes` of memory. The oldest goes where there are too many; where there is no room for
  // its memory or threads, it goes itself.
  void Give(std::unique_ptr<Session> session, uint64_t bytes) noexcept;

 private:
  struct Idle {
    std::unique_ptr<backend::ThreadLease> threads;
    std::unique_ptr<Session> session;  // goes before its threads are given back
    uint64_t bytes = 0;
  };

  // With the lock.
  Idle Remove(size_t index);

  const size_t most_;
  backend::SpareThreads* const threads_;
  std::mutex mutex_;
  backend::Reservation kept_;
  std::vector<Idle> idle_;  // oldest first
};

}  // namespace wasinn::tflite
