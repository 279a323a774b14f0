#include "backends/own_clock.h"

#include <dlfcn.h>
#include <pthread.h>

namespace wasinn::test {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
thread_local OwnClock* clock_here = nullptr;

int64_t RealTime() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return kSecond * now.tv_sec + now.tv_nsec;
}

}  // namespace

OwnClock::OwnClock() : start_(RealTime()) { clock_here = this; }
OwnClock::~OwnClock() { clock_here = nullptr; }

class OwnClockOfThread {
 public:
  static int64_t Now() {
    if (clock_here == nullptr) return RealTime();
    return clock_here->ahead_ + (clock_here->stands_ ? clock_here->start_ : RealTime());
  }
  // In real time, of a moment that the thread waits for.
  static int64_t AddPoll(int64_t until) {
    ++clock_here->polls_;
    return until - Now() + RealTime();
  }
};

// Instead of the C++ library's and of glibc's, in all libraries: a program's own symbols come first.
extern "C" {
std::chrono::steady_clock::time_point NowOfThread() __asm__("_ZNSt6chrono3_V212steady_clock3nowEv");

__attribute__((visibility("default"))) std::chrono::steady_clock::time_point NowOfThread() {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(OwnClockOfThread::Now()));
}

__attribute__((visibility("default"))) int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                                                  clockid_t clock, const timespec* until) {
  static const auto next =
      reinterpret_cast<decltype(&pthread_cond_clockwait)>(dlsym(RTLD_NEXT, "pthread_cond_clockwait"));
  if (clock_here == nullptr || clock != CLOCK_MONOTONIC) return next(condition, mutex, clock, until);
  const int64_t real = OwnClockOfThread::AddPoll(kSecond * until->tv_sec + until->tv_nsec);
  const timespec then = {.tv_sec = real / kSecond, .tv_nsec = real % kSecond};
  return next(condition, mutex, clock, &then);
}

__attribute__((visibility("default"))) int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                                                   const timespec* until) {
  static const auto next =
      reinterpret_cast<decltype(&pthread_mutex_clocklock)>(dlsym(RTLD_NEXT, "pthread_mutex_clocklock"));
  if (clock_here == nullptr || clock != CLOCK_MONOTONIC) return next(mutex, clock, until);
  const int64_t real = OwnClockOfThread::AddPoll(kSecond * until->tv_sec + until->tv_nsec);
  const timespec then = {.tv_sec = real / kSecond, .tv_nsec = real % kSecond};
  return next(mutex, clock, &then);
}
}

}  // namespace wasinn::test
