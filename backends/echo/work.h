// The time that echo's functions take, controlled by a test.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <climits>
#include <string>

#include "base/on_cancel.h"

namespace wasinn::echo {

// Waits at a gate that a test opens, so that the test controls what happens in the meantime, however busy the machine
// is. False as below.
bool Pass(const std::string& gate, const std::atomic<bool>& cancelled);

// Ends the OS process, like a framework that crashes.
void Die();

constexpr int kEndless = INT_MAX;

// Passes the gate and takes that long. False if it was cancelled in the meantime.
bool Work(int ms, const std::string& gate, const std::atomic<bool>& cancelled);

// As above, for functions that register their cancel.
template <typename Options>
bool Work(int ms, const std::string& gate, const Options& options, bool deaf) {
  std::atomic<bool> cancelled{false};
  const wasinn::base::OnCancel cancel(options, [&cancelled, deaf] { cancelled = !deaf; });
  return Work(ms, gate, cancelled);
}

}  // namespace wasinn::echo
