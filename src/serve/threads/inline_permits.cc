#include "serve/threads/inline_permits.h"

#include <chrono>
#include <exception>

#include "serve/log.h"

namespace wasinn::serve {
namespace {

// No quick compute takes longer: repository.cc.
constexpr std::chrono::milliseconds kLook{2};
// After this many looks without a new compute it sleeps until one begins.
constexpr int kMostIdleLooks = 50;

}  // namespace

void IdleWorker::Watch() {
  uint32_t seen = permits_.n_taken();
  for (int idle = 0; !is_stopped_.load(std::memory_order_acquire);) {
    if (idle == kMostIdleLooks) permits_.AwaitTaken(seen);
    std::this_thread::sleep_for(kLook);
    const uint32_t now = permits_.n_taken();
    const bool stands_still = now == seen;
    idle = stands_still ? idle + 1 : 0;
    seen = now;
    if (stands_still && !permits_.has_left()) HelpOut();
  }
}

void IdleWorker::HelpOut() {
  while (!permits_.has_left() && !context_.stopped()) {
    try {
      context_.run_one_for(kLook);
    } catch (const std::exception& error) {  // out of memory ends only what was begun
      LogError(error.what());
    }
  }
}

}  // namespace wasinn::serve
