// Threads for what may take long, so that those that read and write are never held up.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

namespace wasinn::serve {

namespace asio = boost::asio;

class Workers {
 public:
  // No more than `most` wait for one of the threads, or have it.
  Workers(size_t threads, size_t most) : pool_(threads), most_(most) {}

  // What `work` returns; nothing where there are as many as may be. Who awaits goes on where it was.
  template <typename Work>
  asio::awaitable<std::optional<decltype(std::declval<Work>()())>> Do(Work work) {
    const Place place(n_);
    if (place.before >= most_) co_return std::nullopt;
    co_return co_await asio::co_spawn(pool_, Run(std::move(work)), asio::use_awaitable);
  }

  // The same for who awaits nothing: false where there are as many as may be.
  template <typename Work>
  bool Begin(Work work) {
    auto place = std::make_unique<Place>(n_);
    if (place->before >= most_) return false;
    asio::post(pool_, [place = std::move(place), work = std::move(work)] { work(); });
    return true;
  }

  // Waits until all is done that was begun. Nothing may be begun any more.
  void Join() { pool_.join(); }

 private:
  using Count = std::shared_ptr<std::atomic<size_t>>;  // who still awaits may go after this
  struct Place {
    explicit Place(Count n) : count(std::move(n)), before(count->fetch_add(1, std::memory_order_relaxed)) {}
    ~Place() { count->fetch_sub(1, std::memory_order_relaxed); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    const Count count;
    const size_t before;
  };

  template <typename Work>
  static asio::awaitable<decltype(std::declval<Work>()())> Run(Work work) {
    co_return work();
  }

  asio::thread_pool pool_;
  const size_t most_;
  const Count n_ = std::make_shared<std::atomic<size_t>>(0);
};

}  // namespace wasinn::serve
