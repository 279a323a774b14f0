// A thread that reads and writes only while all threads that normally do so are busy for longer than a quick compute.
// If it always did, the system would preempt computes for it, and requests would wait for milliseconds.
#pragma once

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <thread>

#include "serve/threads/inline_permits.h"

namespace wasinn::serve {

class IdleWorker {
 public:
  // The arguments outlive it. There is one permit for every thread of the context.
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
  std::jthread thread_;  // last: it uses all other members
};

}  // namespace wasinn::serve
