// The time that echo's functions take, as a test wants it.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <climits>
#include <string>

#include "common/on_cancel.h"

namespace wasinn::echo {

// Waits at a gate that a test opens, so that the test knows what happens meanwhile, however busy the machine is. False as
// below.
bool Pass(const std::string& gate, const std::atomic<bool>& cancelled);

// Ends the OS process, as a framework does that crashes.
void Die();

constexpr int kEndless = INT_MAX;

// Passes the gate and takes so long. False if it was cancelled meanwhile.
bool Work(int ms, const std::string& gate, const std::atomic<bool>& cancelled);

// The same for what registers its cancel.
template <typename Options>
bool Work(int ms, const std::string& gate, const Options& options, bool deaf) {
  std::atomic<bool> cancelled{false};
  const wasinn::backend::OnCancel cancel(options, [&cancelled, deaf] { cancelled = !deaf; });
  return Work(ms, gate, cancelled);
}

}  // namespace wasinn::echo
