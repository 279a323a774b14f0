#include "serve/threads/inline_turns.h"

#include <boost/asio/post.hpp>

#include <exception>
#include <new>

#include "serve/log.h"

namespace wasinn::serve {

namespace {

// An exception (out of memory) must not end the turns of others.
void Call(const std::function<void()>& go_on) {
  try {
    go_on();
  } catch (const std::exception& error) {
    LogError(error.what());
  }
}

}  // namespace

void InlineTurns::Push(std::function<void()> go_on, const Share& share) {
  auto node = Queue::Make(std::move(go_on));
  {
    const std::lock_guard lock(mutex_);
    waiting_.Push(std::move(node), share);
    if (n_serving_ == most_) return;
    ++n_serving_;
  }
  if (!Post()) ServeOne();
}

bool InlineTurns::Post() {
  try {
    asio::post(context_, [this] { ServeOne(); });
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void InlineTurns::ServeOne() {
  do {
    Queue::Node next;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) {
        --n_serving_;
        return;
      }
      next = waiting_.PopFirst();
    }
    Call(next.mapped().value);
  } while (!Post());
}

}  // namespace wasinn::serve
