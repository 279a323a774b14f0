#include "large_stack.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace wasinn::wamr {
namespace {

constexpr size_t kMost = size_t{8} << 20;  // APP_THREAD_STACK_SIZE_MAX of WAMR, which protects what is below

struct Stack {
  uintptr_t begin = 0, end = 0;
};

Stack ThisThreadsStack() {
  pthread_attr_t attributes;
  void* begin = nullptr;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  pthread_attr_getstack(&attributes, &begin, &size);
  pthread_attr_destroy(&attributes);
  const uintptr_t end = reinterpret_cast<uintptr_t>(begin) + size;
  return {end - std::min(size, kMost), end};
}

// A thread that does what its only client asks for, one thing after the other.
class Companion {
 public:
  Companion() : thread_(&Companion::Work, this) {}
  ~Companion() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;

  void Run(const std::function<void()>& call) {
    std::unique_lock lock(mutex_);
    call_ = &call;
    changed_.notify_all();
    changed_.wait(lock, [this] { return call_ == nullptr; });
  }

 private:
  void Work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ended_ || call_ != nullptr; });
      if (call_ == nullptr) return;
      lock.unlock();
      (*call_)();
      lock.lock();
      call_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* call_ = nullptr;
  bool ended_ = false;
  std::thread thread_;  // the last, for it uses the others
};

}  // namespace

size_t StackLeft() {
  thread_local const Stack stack = ThisThreadsStack();
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return here >= stack.begin && here < stack.end ? here - stack.begin : SIZE_MAX;
}

void RunOnLargeStack(const std::function<void()>& call) {
  thread_local Companion companion;
  companion.Run(call);
}

}  // namespace wasinn::wamr
