#include "backends/late.h"

#include <dlfcn.h>

#include <condition_variable>
#include <mutex>
#include <utility>

namespace wasinn::test {

namespace {

thread_local Late* late_here = nullptr;

}  // namespace

Late::Here::Here(Late* late) : late_(late) { late_here = late; }

Late::Here::~Here() {
  late_here = nullptr;
  late_->Enter(State::kEnded);
}

void Late::Release() {
  released_ = true;
  released_.notify_all();
}

void Late::Enter(State state) {
  state_ = state;
  state_.notify_all();
}

void Late::Await(State state) const {
  for (State now = state_; now < state; now = state_) state_.wait(now);
}

// Instead of the C++ library's, in all libraries: a program's own symbols come first.
extern "C" {
void WaitLate(std::condition_variable* self,
              std::unique_lock<std::mutex>* lock) __asm__("_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");

__attribute__((visibility("default"))) void WaitLate(std::condition_variable* self,
                                                     std::unique_lock<std::mutex>* lock) {
  static const auto next = reinterpret_cast<decltype(&WaitLate)>(
      dlsym(RTLD_NEXT, "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"));
  Late* const late = std::exchange(late_here, nullptr);
  if (late == nullptr) return next(self, lock);
  late->Hold([&] { next(self, lock); }, lock);
}
}

}  // namespace wasinn::test
