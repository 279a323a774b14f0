// Threads for what may take long, so that those that read and write are never held up. Each model and each route has one of its own, and
// all of them share the others, of which one may have three quarters: one that stands still holds up no other.
#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "serve/oip/inference.h"
#include "serve/threads/cancellation.h"
#include "serve/threads/fair_queue.h"

namespace wasinn::serve {

namespace asio = boost::asio;

// The model or route of a job, by its name; two that have the same number share a place.
using Place = uint64_t;
inline constexpr Place kNoPlace = 0;  // has no thread of its own
inline Place PlaceOf(std::string_view name) { return std::hash<std::string_view>{}(name) | 1; }

// Any thread.
class Workers {
 public:
  struct Limits {
    size_t threads = 1;                          // that places share
    size_t most = 1024;                          // that wait for one of them, or have it
    std::chrono::milliseconds patience{30'000};  // of who waits
    // A job that has run for so long has a lower priority at the processors from the next Sweep on, and the next job of its place from its
    // beginning: so short ones do not wait for their time slices.
    std::chrono::milliseconds long_job{100};
  };
  // One of both functions is called, once.
  struct Job {
    std::function<void()> run;
    std::function<void(const Failure&)> refuse;  // it has waited for too long, or nobody waits for it any more
    const Share* share;                          // whose turn it takes; lives until then, as the next one
    const Cancellation* cancellation = nullptr;
    Place place = kNoPlace;
  };

  explicit Workers(const Limits& limits);
  ~Workers() { Stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // False: there are as many as may be, and nothing is called. A tenant with more jobs waiting than others makes room for them, and so does a place
  // that has more than three quarters of them.
  [[nodiscard]] bool Begin(Job job);

  // What `work` returns, or throws, on one of the threads; or why it was not called. Who awaits goes on where it was.
  template <typename T>
  asio::awaitable<Outcome<T>> Do(std::function<T()> work, const Share& share, const Cancellation* cancellation,
                                 Place place = kNoPlace) {
    return asio::async_initiate<const asio::use_awaitable_t<>, void(std::exception_ptr, Outcome<T>)>(
        [this, &share, cancellation, place](auto done, std::function<T()> what) {
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
          if (!Begin({std::move(run), refuse, &share, cancellation, place})) refuse(TooMany());
        },
        asio::use_awaitable, std::move(work));
  }

  // Refuses what nobody waits for any more, or has waited for too long, and looks for long jobs. To be called now and then.
  void Sweep();
  // Refuses what waits, and takes nothing any more.
  void Close();
  // The same, and waits for the jobs that run.
  void Stop();

  struct Load {
    size_t threads = 0, running = 0, waiting = 0;
    size_t places = 0;  // that have jobs, or whose last one was long
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
  // Those of one place.
  struct OfPlace {
    size_t jobs = 0;       // that wait or run
    size_t n_shared = 0;   // of these, those that run on threads that are shared
    bool has_own = false;  // one runs on the place's own thread
    bool is_long = false;  // the last one was a long job
  };
  struct Begun {
    bool is_own = false;
    std::optional<uint64_t> share;  // where it counts
    Place place = kNoPlace;
    pid_t thread = 0;
    std::chrono::steady_clock::time_point since;
    bool is_lowered = false;  // the thread's priority
  };

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
  bool RunOne(bool& is_lowered);
  // The caller holds `mutex_`, as for the following.
  bool IsFullFor(Place place) const;
  Queue::Node PopOfCrowd(Place place);
  bool MayShare(const Job& job) const;
  bool MayRun(const Job& job) const;
  bool Enter(Place place);
  void Leave(Place place);
  void Leave(const Queue::Items& items);
  void BeginOne(const Job& job, Begun& begun);
  void EndOne(const Begun& begun);
  void LowerLongJobs();
  void Lower(Begun& begun);
  bool IsLong(const Job& job) const;
  void AddThreads();
  void TryAddThreads();
  void Leave();
  void Push(Queue::Node one, const Share& share, Place place);
  void TakeOver(Queue::Items& over);  // what waits no more

  static void Refuse(const Waiting& waiting);
  static void Refuse(const Queue::Items& items);

  const size_t n_threads_, most_;
  const std::chrono::milliseconds patience_, long_job_;
  const int usual_priority_;  // of a thread
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable wake_;
  Queue waiting_;
  size_t n_running_ = 0;
  size_t n_shared_ = 0;                            // of these, those on threads that are shared
  std::unordered_map<uint64_t, size_t> of_share_;  // of these, those of each share
  std::unordered_map<Place, OfPlace> of_place_;    // of those that have jobs, or whose last one was long
  size_t n_places_ = 0;                            // that have jobs
  bool stopped_ = false;
  std::vector<Begun*> running_;  // has room for one of each thread
  std::vector<std::jthread> threads_, left_;
};

}  // namespace wasinn::serve
