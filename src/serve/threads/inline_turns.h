// Chooses whose request is computed next on the threads that read and write, if there are several tenants. Between two
// requests it looks for new ones, so that a tenant with few requests does not wait behind another's many.
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

// Thread-safe.
class InlineTurns {
 public:
  // `threads`: of the context, which outlives this object.
  InlineTurns(asio::io_context& context, size_t threads) : context_(context), most_(threads) {}

  // Waits for the turn of `share`, which must live until then. The caller continues on its own executor.
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
  // Serves one waiting request; the next one after all events that have come by then.
  void ServeOne();
  // Returns false without memory.
  bool Post();

  asio::io_context& context_;
  const size_t most_;
  std::mutex mutex_;  // guards the members below
  Queue waiting_;
  size_t n_serving_ = 0;
};

}  // namespace wasinn::serve
