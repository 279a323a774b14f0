#include "engines/guest_run.h"

#include <utility>

#include "engines/one_line.h"

namespace wasinn::engines {

GuestRun::GuestRun(wasinn_guest* guest, std::function<void()> interrupt)
    : guest_(guest), interrupt_(std::move(interrupt)) {
  wasinn_status* status = guest == nullptr ? nullptr : wasinn_guest_begin_run(guest, Interrupt, this);
  if (status == nullptr) return;
  begun_ = std::unexpected(OneLine(wasinn_status_message(status)));
  wasinn_status_free(status);
}

void GuestRun::Interrupt(void* run) {
  auto& self = *static_cast<GuestRun*>(run);
  self.interrupted_ = true;
  self.interrupt_();
}

// A stopped guest may end in any way, even by itself with a code of its own.
Exit GuestRun::End(Exit exit) {
  const bool overdue = Over();
  if (!interrupted_) return exit;
  return Exit::Interrupted(overdue ? "the guest ran for longer than it may (limits.run_timeout_ms)"
                                   : "the guest was stopped");
}

}  // namespace wasinn::engines
