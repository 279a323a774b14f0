#include "core/runtime/large_stacks.h"

#include <algorithm>
#include <utility>

namespace wasinn::core {
namespace {

constexpr size_t kStackSize = size_t{8} << 20;  // of a host thread: the size that frameworks expect

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
  return {reinterpret_cast<uintptr_t>(begin), reinterpret_cast<uintptr_t>(begin) + size};
}

}  // namespace

bool StartLargeThread(pthread_t* thread, void* (*function)(void*), void* argument) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, kStackSize);
  const bool started = pthread_create(thread, &attributes, function, argument) == 0;
  pthread_attr_destroy(&attributes);
  return started;
}

size_t StackLeft(size_t most) {
  thread_local const Stack stack = ThisThreadsStack();
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (here < stack.begin || here >= stack.end) return SIZE_MAX;
  const uintptr_t begin = stack.end - std::min<size_t>(stack.end - stack.begin, most);
  return here >= begin ? here - begin : SIZE_MAX;
}

LargeStacks::~LargeStacks() {
  if (started_in_.is_elsewhere()) {  // a condition variable with waiting threads cannot be destroyed
    for (std::unique_ptr<Thread>& thread : idle_) (void)thread.release();
    return;
  }
  std::unique_lock lock(mutex_);
  for (const std::unique_ptr<Thread>& thread : idle_) End(lock, *thread);
}

Status LargeStacks::Run(Share& share, const std::function<void()>& call) {
  RETURN_IF_ERROR(started_in_.Check());
  std::unique_lock lock(mutex_);
  std::unique_ptr<Thread> thread;
  for (;;) {
    if (share.held_ < kMaxOfOneGuest) thread = Borrow();
    if (thread != nullptr) break;
    if (share.held_ == 0) return Error(WASINN_ERROR_RUNTIME, "the system gives no thread for this call");
    given_back_.wait(lock);
  }
  ++share.held_;
  thread->call = &call;
  thread->changed.notify_all();
  thread->changed.wait(lock, [&thread] { return thread->call == nullptr; });
  --share.held_;
  given_back_.notify_all();
  if (idle_.size() < kMaxIdle) {
    idle_.push_back(std::move(thread));
  } else {
    End(lock, *thread);
  }
  return Status();
}

std::unique_ptr<LargeStacks::Thread> LargeStacks::Borrow() {
  std::unique_ptr<Thread> thread;
  if (!idle_.empty()) {
    thread = std::move(idle_.back());
    idle_.pop_back();
    return thread;
  }
  idle_.reserve(kMaxIdle);  // so that giving a thread back cannot fail
  thread.reset(new Thread{mutex_});
  if (!StartLargeThread(&thread->handle, Work, thread.get())) return nullptr;
  started_in_.SetToThisProcess();
  return thread;
}

void LargeStacks::End(std::unique_lock<std::mutex>& lock, Thread& thread) {
  thread.ends = true;
  thread.changed.notify_all();
  lock.unlock();
  pthread_join(thread.handle, nullptr);
  lock.lock();
}

void* LargeStacks::Work(void* argument) {
  Thread& self = *static_cast<Thread*>(argument);
  std::unique_lock lock(self.mutex);
  for (;;) {
    self.changed.wait(lock, [&self] { return self.ends || self.call != nullptr; });
    if (self.call == nullptr) return nullptr;
    lock.unlock();
    (*self.call)();
    lock.lock();
    self.call = nullptr;
    self.changed.notify_all();
  }
}

}  // namespace wasinn::core
