#include "large_stack.h"

#include <pthread.h>

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

namespace wasinn::wamr {
namespace {

constexpr size_t kEnough = size_t{1} << 20;

bool StackIsSmall() {
  pthread_attr_t attributes;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
  pthread_attr_getstacksize(&attributes, &size);
  pthread_attr_destroy(&attributes);
  return size < kEnough;
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

bool HasSmallStack() {
  thread_local const bool small = StackIsSmall();
  return small;
}

void RunOnLargeStack(const std::function<void()>& call) {
  thread_local Companion companion;
  companion.Run(call);
}

}  // namespace wasinn::wamr
