// Threads for what may take long, so that those that read and write are never held up.
#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "serve/cancellation.h"
#include "serve/fair_queue.h"
#include "serve/inference.h"

namespace wasinn::serve {

namespace asio = boost::asio;

// Any thread.
class Workers {
 public:
  struct Limits {
    size_t threads = 1;
    size_t most = 1024;                          // that wait for one of them, or have it
    std::chrono::milliseconds patience{30'000};  // of who waits
  };
  // One of both functions is called, once.
  struct Job {
    std::function<void()> run;
    std::function<void(const Failure&)> refuse;  // it has waited for too long, or nobody waits for it any more
    const Share* share;                          // whose turn it takes; lives until then, as the next one
    const Cancellation* cancellation = nullptr;
  };

  explicit Workers(const Limits& limits);
  ~Workers() { Stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // False: there are as many as may be, and nothing is called. Who has more waiting than others makes room for them.
  [[nodiscard]] bool Begin(Job job);

  // What `work` returns, or throws, on one of the threads; or why it was not called. Who awaits goes on where it was.
  template <typename T>
  asio::awaitable<Outcome<T>> Do(std::function<T()> work, const Share& share, const Cancellation* cancellation) {
    return asio::async_initiate<const asio::use_awaitable_t<>, void(std::exception_ptr, Outcome<T>)>(
        [this, &share, cancellation](auto done, std::function<T()> what) {
          const auto tell = Teller<T>(std::move(done));
          auto run = [tell, what = std::move(what)] {
            std::exception_ptr thrown;
            Outcome<T> outcome = std::unexpected(Failure());
            try {
              outcome = what();
            } catch (...) {
              thrown = std::current_exception();
            }
            tell(thrown, std::move(outcome));
          };
          auto refuse = [tell](const Failure& failure) { tell(nullptr, std::unexpected(failure)); };
          if (!Begin({std::move(run), refuse, &share, cancellation})) refuse(TooMany());
        },
        asio::use_awaitable, std::move(work));
  }

  // Refuses what nobody waits for any more, or has waited for too long. To be called now and then.
  void Sweep();
  // Refuses what waits, and waits for what runs.
  void Stop();

  struct Load {
    size_t threads = 0, running = 0, waiting = 0;
  };
  Load Look() const;

  static Failure TooMany() { return TryAgain("as many requests wait as may"); }

 private:
  struct Waiting {
    Job job;
    std::chrono::steady_clock::time_point until;
    bool IsOver() const;
  };
  using Queue = FairQueue<Waiting>;

  // What calls `done` where that belongs.
  template <typename T, typename Done>
  static auto Teller(Done done) {
    return [shared = std::make_shared<Done>(std::move(done))](const std::exception_ptr& thrown, Outcome<T> outcome) {
      asio::post(asio::get_associated_executor(*shared), [shared, thrown, outcome = std::move(outcome)]() mutable {
        std::move (*shared)(thrown, std::move(outcome));
      });
    };
  }
  void Serve();
  bool IsFull() const { return waiting_.size() + n_running_ >= most_; }  // of `mutex_`, as what follows
  static void Refuse(const Waiting& waiting);
  static void Refuse(const Queue::Items& items);
  bool MayRun(const Share& share) const;
  std::optional<uint64_t> Count(const Share& share);
  void TakeOver(Queue::Items& over);  // what waits no more

  const size_t n_threads_, most_;
  const std::chrono::milliseconds patience_;
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable wake_;
  Queue waiting_;
  size_t n_running_ = 0;
  std::unordered_map<uint64_t, size_t> running_;  // of these, those of each share
  bool stopped_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace wasinn::serve
