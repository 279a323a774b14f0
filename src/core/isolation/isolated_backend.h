// A backend whose framework is in a worker: its table of wasinn/backend.h sends requests to the worker.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/isolation/connection.h"
#include "core/runtime/clock.h"

namespace wasinn::isolation {

// One thread at a time.
class Backoffs {
 public:
  static constexpr size_t kMaxDeaths = 3, kMaxDeathsAlone = 50;
  static constexpr std::chrono::seconds kWithin{10}, kFirst{1}, kLongest{60};
  using Time = core::Clock::time_point;
  // `has_one_guest`: it may serve many clients, so three deaths in sequence are no reason to make all of them wait.
  explicit Backoffs(bool has_one_guest = false) : most_in_a_row_(has_one_guest ? kMaxDeathsAlone : kMaxDeaths) {}

  // A worker ended in calls of these guests; none: the model is to blame. If several guests had calls there, each is
  // only a suspect: a successful compute clears it.
  void AddDeath(std::span<const uint64_t> guests, Time now);
  void Clear(uint64_t guest);
  // How long this guest, or all guests (0), must wait.
  std::optional<std::chrono::milliseconds> Left(uint64_t guest, Time now) const;
  size_t most_in_a_row(uint64_t guest) const { return guest == 0 ? kMaxDeaths : most_in_a_row_; }
  // Whether any guest is under suspicion.
  bool any() const { return !of_guests_.empty(); }

 private:
  struct Backoff {
    std::deque<Time> deaths, deaths_alone;
    Time until;
    std::chrono::seconds length{0};
    void Add(Time now, size_t most_in_a_row, bool is_alone);
  };
  void Forget(Time now);

  const size_t most_in_a_row_;  // for one guest
  Backoff of_all_;
  std::map<uint64_t, Backoff> of_guests_;
};

// The zygotes of a host, one for each framework with devices, one without and one for each list of libraries of
// operators, and the count of all its workers. Thread-safe.
class Zygotes : public std::enable_shared_from_this<Zygotes> {
 public:
  Zygotes(uint32_t max_workers, bool spare_workers, bool has_one_guest, core::Clock clock)
      : max_workers_(max_workers), spare_workers_(spare_workers), has_one_guest_(has_one_guest), clock_(clock) {}
  // The right to one worker, for as long as it lives. UNAVAILABLE if there are too many.
  core::Result<std::shared_ptr<Counters>> TakePlace();
  const Counters& counters() const { return counters_; }
  bool has_one_guest() const { return has_one_guest_; }
  const core::Clock& clock() const { return clock_; }
  void CountRestart() { counters_.restarted.fetch_add(1, std::memory_order_relaxed); }
  // Starts it if need be.
  core::Result<std::shared_ptr<Zygote>> Get(const Setting& setting);
  // The zygote is gone.
  void Forget(const Setting& setting, const std::shared_ptr<Zygote>& gone);

 private:
  struct Entry {
    std::mutex starting;
    std::shared_ptr<Zygote> made;
  };
  // The backend, whether its workers may use devices, and the libraries of operators that they open.
  using Key = std::tuple<std::string, bool, std::vector<std::string>>;
  std::shared_ptr<Entry> Find(const Setting& setting);

  const uint32_t max_workers_;
  const bool spare_workers_, has_one_guest_;
  const core::Clock clock_;
  Counters counters_;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Entry>> entries_;
};

// The table of a framework's backend, with functions that send requests to a worker.
wasinn_backend IsolatedTable(const wasinn_backend& framework);

// Has one worker at a time: after a loss, the next load starts another. Thread-safe.
class IsolatedBackend {
 public:
  // The state for the functions of such a table. Both references outlive it.
  static core::Result<wasinn_backend_state*> Open(std::shared_ptr<Zygotes> zygotes, Setting setting,
                                                  const wasinn_host_services& services);
  static IsolatedBackend& Of(wasinn_backend_state* state) { return *reinterpret_cast<IsolatedBackend*>(state); }

  core::Result<std::shared_ptr<Connection>> Connect();
  // UNAVAILABLE if the guest for which this thread calls has lost several workers: for a while it makes no contexts and
  // computes nothing there. Others go on.
  core::Status CheckCaller() { return has_suspects_.load(std::memory_order_acquire) ? CheckSuspect() : core::Status(); }
  // A compute of that guest has succeeded.
  void ClearCaller() noexcept;
  // Ends the worker: its objects are not needed any more.
  void Abandon();
  const wasinn_host_services& services() const { return services_; }
  const wasinn_backend_info* info() const { return &info_; }

 private:
  IsolatedBackend(std::shared_ptr<Zygotes> zygotes, Setting setting, const wasinn_host_services& services)
      : zygotes_(std::move(zygotes)),
        setting_(std::move(setting)),
        services_(services),
        backoffs_(zygotes_->has_one_guest()) {}
  core::Result<std::shared_ptr<Connection>> Start();
  core::Status CheckSuspect();
  core::Status CheckBackoff();
  core::Status BackoffOf(uint64_t guest, core::Clock::time_point now) const;
  void NoteEnd(core::Clock::time_point now);

  const std::shared_ptr<Zygotes> zygotes_;
  const Setting setting_;
  const wasinn_host_services& services_;
  Framework framework_;  // constant after Open, like info_, which points there
  wasinn_backend_info info_{};

  std::atomic<bool> has_suspects_{false};
  std::mutex mutex_;  // guards the members below
  std::shared_ptr<Connection> connection_;
  bool was_lost_ = false;  // the last worker
  Backoffs backoffs_;
};

}  // namespace wasinn::isolation
