// A thread that reads and writes only while all those that do so compute, for longer than a quick compute takes. Were it one of them, the
// system would have it take turns with one that computes, in the middle of that: requests would wait for milliseconds.
#pragma once

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <thread>

#include "serve/threads/inline_permits.h"

namespace wasinn::serve {

class IdleWorker {
 public:
  // Both outlive it. Every thread of the context may take a permit, and there is one for each.
  IdleWorker(boost::asio::io_context& context, InlinePermits& permits)
      : context_(context), permits_(permits), thread_([this] { Watch(); }) {}
  ~IdleWorker() {
    is_stopped_.store(true, std::memory_order_release);
    permits_.Wake();
  }
  IdleWorker(const IdleWorker&) = delete;
  IdleWorker& operator=(const IdleWorker&) = delete;

 private:
  void Watch();
  void HelpOut();

  boost::asio::io_context& context_;
  InlinePermits& permits_;
  std::atomic<bool> is_stopped_{false};
  std::jthread thread_;  // last: it uses all the others
};

}  // namespace wasinn::serve
