// Lets a request's own thread wait for events of other threads without blocking.
#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace wasinn::serve {

class Events {
 public:
  // Waits until `has_come`, called under `mutex`, returns true. One waiter at a time.
  boost::asio::awaitable<void> Await(std::mutex& mutex, std::function<bool()> has_come) {
    return boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void()>(
        [this, &mutex, has_come = std::move(has_come)](auto done) {
          auto shared = std::make_shared<decltype(done)>(std::move(done));
          std::function<void()> wake = [shared] {
            boost::asio::post(boost::asio::get_associated_executor(*shared), [shared] { std::move (*shared)(); });
          };
          {
            const std::lock_guard lock(mutex);
            if (!has_come()) {
              wake_ = std::move(wake);
              return;
            }
          }
          wake();
        },
        boost::asio::use_awaitable);
  }

  // The same, but blocks: for a destructor.
  template <typename HasCome>
  void AwaitHere(std::mutex& mutex, HasCome has_come) {
    std::unique_lock lock(mutex);
    changed_.wait(lock, std::move(has_come));
  }

  // Called under the same mutex, which is held until it returns: afterwards the waiter may have destroyed this object.
  void Notify() {
    changed_.notify_all();
    if (std::function<void()> wake = std::exchange(wake_, nullptr)) wake();
  }

 private:
  std::function<void()> wake_;
  std::condition_variable changed_;
};

}  // namespace wasinn::serve
