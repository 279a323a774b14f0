// Calls by wasinn_guest_call_begin, for tests.
#pragma once

#include "support/echo.h"
#include "support/test.h"

namespace wasinn::testing {

// One call, from its beginning to its end.
class Begun {
 public:
  Begun(wasinn_guest* guest, FakeGuest& program, std::string_view function, std::vector<uint32_t> args)
      : args_(std::move(args)) {
    memory_ = {sizeof memory_, 0, program.memory().data(), program.memory().size()};
    call_ = {.struct_size = sizeof(wasinn_call),
             .function = &FunctionNamed(function),
             .guest = guest,
             .memory = &memory_,
             .args = args_.data(),
             .stride = sizeof(uint32_t)};
  }
  // `order`, if given, gets this call's number when it is over.
  void Begin(std::vector<int>* order = nullptr, int number = 0) {
    order_ = order;
    number_ = number;
    wasinn_guest_call_begin(&call_, &Begun::Done, this);
  }
  // Called when it is over, on the thread that says so.
  void AtEnd(std::function<void()> at_end) { at_end_ = std::move(at_end); }
  // The same, which this thread waits for, on another one's stack.
  uint32_t CallWithoutStack() {
    call_.stack_left = 0;
    return wasinn_guest_call(&call_);
  }
  void EndedBy(std::atomic<bool>& mark) {
    call_.ended = [](void* caller) { return static_cast<std::atomic<bool>*>(caller)->load(); };
    call_.caller = &mark;
  }
  bool is_done() const {
    const std::lock_guard lock(mutex_);
    return is_done_;
  }
  uint32_t Await() const {
    std::unique_lock lock(mutex_);
    is_over_.wait(lock, [this] { return is_done_; });
    return result_;
  }
  const wasinn_call& call() const { return call_; }

 private:
  static void Done(void* user, uint32_t result) {
    auto* self = static_cast<Begun*>(user);
    static std::mutex mutex;
    if (self->at_end_ != nullptr) self->at_end_();
    if (self->order_ != nullptr) {
      const std::lock_guard lock(mutex);
      self->order_->push_back(self->number_);
    }
    const std::lock_guard lock(self->mutex_);  // the awaiting thread may free it afterwards
    EXPECT_FALSE(self->is_done_) << "once";
    self->is_done_ = true;
    self->result_ = result;
    self->is_over_.notify_all();
  }

  std::vector<uint32_t> args_;
  wasinn_memory memory_ = {};
  wasinn_call call_ = {};
  std::vector<int>* order_ = nullptr;
  int number_ = 0;
  std::function<void()> at_end_;
  mutable std::mutex mutex_;  // guards the members below
  mutable std::condition_variable is_over_;
  bool is_done_ = false;
  uint32_t result_ = 0;
};

// A guest with a program that computes on models of one input.
struct BegunProgram : EchoProgram {
  explicit BegunProgram(wasinn_host* host) : BegunProgram(NewGuest(host)) {}
  explicit BegunProgram(GuestPtr its) : EchoProgram(std::move(its), 1 << 16) {}
  uint32_t NewContext(const char* model) {
    const uint32_t context = EchoProgram::NewContext(model);
    EXPECT_EQ(Set(context, {7}), kSuccess);
    return context;
  }
  std::unique_ptr<Begun> Compute(uint32_t context) {
    return std::make_unique<Begun>(guest.get(), *this, "compute", std::vector{context});
  }
  float Output(uint32_t context) { return EchoProgram::Output(context).at(0); }
};

}  // namespace wasinn::testing
