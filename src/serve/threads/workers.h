// Threads for slow jobs, so that threads that read and write are never blocked. Each model and each route has a thread
// of its own, and all share the others, of which one may use three quarters: a hanging one does not delay the rest.
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

// The model or route of a job, by its name; two with the same hash share a place.
using Place = uint64_t;
inline constexpr Place kNoPlace = 0;  // no thread of its own
inline Place PlaceOf(std::string_view name) { return std::hash<std::string_view>{}(name) | 1; }

// Thread-safe.
class Workers {
 public:
  struct Limits {
    size_t threads = 1;                          // shared by all places
    size_t most = 1024;                          // jobs that wait or run
    std::chrono::milliseconds patience{30'000};  // the longest wait
    // After this time a running job gets a lower priority at the next Sweep, and the place's next job from its
    // beginning, so that short jobs do not wait for its time slices.
    std::chrono::milliseconds long_job{100};
  };
  // Exactly one of the two functions is called, once.
  struct Job {
    std::function<void()> run;
    std::function<void(const Failure&)> refuse;  // it has waited too long, or its client has gone
    const Share* share;                          // whose turn it takes; must live until it ends, like the next member
    const Cancellation* cancellation = nullptr;
    Place place = kNoPlace;
  };

  explicit Workers(const Limits& limits);
  ~Workers() { Stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // False: the limit is reached, and nothing is called. A tenant with more waiting jobs than others makes room, and so
  // does a place with more than three quarters of the limit.
  [[nodiscard]] bool Begin(Job job);

  // Returns or throws the result of `work` on one of the threads, or throws why it was not run (Failure). Continues on
  // its own executor.
  template <typename T>
  asio::awaitable<T> Do(std::function<T()> work, const Share& share, const Cancellation* cancellation,
                        Place place = kNoPlace) {
    return asio::async_initiate<const asio::use_awaitable_t<>, void(std::exception_ptr, T)>(
        [this, &share, cancellation, place](auto done, std::function<T()> call) {
          const auto end = EndWith<T>(std::move(done));
          auto run = [end, call = std::move(call)] {
            std::exception_ptr thrown;
            T result{};
            try {
              result = call();
            } catch (...) {
              thrown = std::current_exception();
            }
            end(thrown, std::move(result));
          };
          auto refuse = [end](const Failure& failure) { end(std::make_exception_ptr(failure), T{}); };
          if (!Begin({std::move(run), refuse, &share, cancellation, place})) refuse(TooMany());
        },
        asio::use_awaitable, std::move(work));
  }

  // Refuses jobs that have waited too long or whose client has gone, and finds long jobs. Called periodically.
  void Sweep();
  // Refuses waiting and new jobs.
  void Close();
  // The same, and waits for running jobs.
  void Stop();

  struct Load {
    size_t threads = 0, running = 0, waiting = 0;
    size_t places = 0;  // with jobs, or whose last job was long
    size_t idle = 0;    // threads
  };
  Load Look() const;

  static Failure TooMany() { return TryAgain("too many requests are waiting"); }

 private:
  struct Waiting {
    Job job;
    std::chrono::steady_clock::time_point until;
    bool IsExpired() const;
  };
  using Queue = FairQueue<Waiting>;
  // The state of one place.
  struct PlaceState {
    size_t jobs = 0;       // waiting or running
    size_t n_shared = 0;   // running on shared threads
    bool has_own = false;  // a job runs on the place's own thread
    bool is_long = false;  // the last job was long
  };
  struct RunningJob {
    bool is_own = false;
    std::optional<uint64_t> share;  // that counts it
    Place place = kNoPlace;
    pid_t thread = 0;
    std::chrono::steady_clock::time_point since;
    bool is_lowered = false;  // the thread's priority
  };
  // A thread that has no job.
  struct Idle {
    std::condition_variable wake;
    bool is_awake = false;
  };

  // Calls `done` on its executor.
  template <typename T, typename Done>
  static auto EndWith(Done done) {
    return [shared = std::make_shared<Done>(std::move(done))](const std::exception_ptr& thrown, T result) {
      asio::post(asio::get_associated_executor(*shared), [shared, thrown, result = std::move(result)]() mutable {
        std::move (*shared)(thrown, std::move(result));
      });
    };
  }
  void Serve();
  bool RunOne(bool& is_lowered);
  // These functions need `mutex_`.
  bool IsFullFor(Place place) const;
  Queue::Node PopFromCrowdedPlace(Place place);
  bool MayShare(const Job& job) const;
  bool MayRun(const Job& job) const;
  bool Enter(Place place);
  void Leave(Place place);
  void Rest(std::unique_lock<std::mutex>& lock);
  void WakeOne();
  void Leave(const Queue::Items& items);
  void BeginOne(const Job& job, RunningJob& begun);
  void EndOne(const RunningJob& begun);
  void LowerLongJobs();
  void Lower(RunningJob& begun);
  bool IsLong(const Job& job) const;
  void AddThreads();
  void TryAddThreads();
  void Leave();
  void Push(Queue::Node one, const Share& share, Place place);
  void TakeExpired(Queue::Items& over);  // jobs that no longer wait

  static void Refuse(const Waiting& waiting);
  static void Refuse(const Queue::Items& items);

  const size_t n_threads_, most_;
  const std::chrono::milliseconds patience_, long_job_;
  const int usual_priority_;  // of threads
  mutable std::mutex mutex_;  // guards the members below
  Queue waiting_;
  size_t n_running_ = 0;
  size_t n_shared_ = 0;                                    // running on shared threads
  std::unordered_map<uint64_t, size_t> running_by_share_;  // running on shared threads, by share
  std::unordered_map<Place, PlaceState> place_states_;     // places with jobs, or whose last job was long
  size_t n_places_ = 0;                                    // with jobs
  bool stopped_ = false;
  // Both have capacity for all threads. The last idle thread had a job last, and gets the next: frameworks keep caches for each thread that has computed.
  std::vector<RunningJob*> running_;
  std::vector<Idle*> idle_;
  std::vector<std::jthread> threads_, left_;
};

}  // namespace wasinn::serve
