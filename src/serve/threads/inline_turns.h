// Whose request is computed next on the threads that read and write, where there are several tenants: by turns. One request is computed
// between two looks for what has come, so that who asks now and then waits for none of the many of who asks all the time.
#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "serve/threads/fair_queue.h"

namespace wasinn::serve {

namespace asio = boost::asio;

// Any thread.
class InlineTurns {
 public:
  // `threads`: of the context, which outlives it.
  InlineTurns(asio::io_context& context, size_t threads) : context_(context), most_(threads) {}

  // Until it is the share's turn, which outlives that. Who awaits goes on where it was.
  asio::awaitable<void> Await(const Share& share) {
    return asio::async_initiate<const asio::use_awaitable_t<>, void()>(
        [this, &share](auto done) {
          auto shared = std::make_shared<decltype(done)>(std::move(done));
          Push(
              [shared] {
                const auto executor = asio::get_associated_executor(*shared);
                asio::dispatch(executor, [shared] { std::move (*shared)(); });
              },
              share);
        },
        asio::use_awaitable);
  }

 private:
  using Queue = FairQueue<std::function<void()>>;

  void Push(std::function<void()> go_on, const Share& share);
  // One of those that wait; and later, behind whatever else has come by then, another one.
  void ServeOne();
  // Whether there was memory for that.
  bool Post();

  asio::io_context& context_;
  const size_t most_;
  std::mutex mutex_;  // of what follows
  Queue waiting_;
  size_t n_serving_ = 0;
};

}  // namespace wasinn::serve
