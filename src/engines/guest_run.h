// One run of a guest's program, which ends at its deadline or when the guest is stopped.
#pragma once

#include <wasinn/wasinn.h>

#include <atomic>
#include <functional>

#include "engines/engine.h"

namespace wasinn::engines {

class GuestRun {
 public:
  // `interrupt` is as for wasinn_guest_begin_run. Without a guest nothing interrupts.
  GuestRun(wasinn_guest* guest, std::function<void()> interrupt);
  ~GuestRun() { (void)Over(); }
  GuestRun(const GuestRun&) = delete;
  GuestRun& operator=(const GuestRun&) = delete;

  // The error if it could not begin.
  const Result<void>& begun() const { return begun_; }
  // True if no code of the guest should run any more. Any thread.
  const std::atomic<bool>& interrupted() const { return interrupted_; }
  // The outcome of the run, for a guest that ended like this. From here on `interrupt` is not called.
  Exit End(Exit exit);

 private:
  static void Interrupt(void* run);
  bool Over() { return guest_ != nullptr && begun_ && wasinn_guest_end_run(guest_); }

  wasinn_guest* const guest_;
  const std::function<void()> interrupt_;
  std::atomic<bool> interrupted_{false};
  Result<void> begun_;
};

}  // namespace wasinn::engines
