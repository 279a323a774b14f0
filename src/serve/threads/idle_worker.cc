#include "serve/threads/idle_worker.h"

#include <chrono>
#include <exception>

#include "serve/log.h"

namespace wasinn::serve {
namespace {

// Of what is quick none takes longer: repository.cc.
constexpr std::chrono::milliseconds kLook{2};
// Where so many looks in a row saw nothing begin it sleeps until something does.
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
    } catch (const std::exception& error) {  // want of memory ends what was begun, and nothing else
      LogError(error.what());
    }
  }
}

}  // namespace wasinn::serve
