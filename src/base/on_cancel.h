// A backend's call to the host that its load, or the creation of its context, can be interrupted.
#pragma once

#include <functional>
#include <utility>

namespace wasinn::base {

// Registered during its life. `interrupt` is called from another thread, such as the host's watchdog, possibly again and
// again, but never after this is destroyed; so objects that it refers to must be declared before.
class OnCancel {
 public:
  // `options`: of a load or of a context. An empty `interrupt` is not registered: the framework cannot be interrupted.
  template <typename Options>
  OnCancel(const Options& options, std::function<void()> interrupt)
      : interrupt_(std::move(interrupt)),
        token_(options.token),
        on_cancel_(interrupt_ == nullptr ? nullptr : options.on_cancel) {
    if (on_cancel_ != nullptr) on_cancel_(token_, [](void* self) { static_cast<OnCancel*>(self)->interrupt_(); }, this);
  }
  ~OnCancel() {
    if (on_cancel_ != nullptr) on_cancel_(token_, nullptr, nullptr);
  }
  OnCancel(const OnCancel&) = delete;
  OnCancel& operator=(const OnCancel&) = delete;

 private:
  const std::function<void()> interrupt_;
  void* const token_;
  void (*const on_cancel_)(void* token, void (*cancel)(void* arg), void* arg);
};

}  // namespace wasinn::base
