// The threads of a server that take long: one makes new generations, and destroys those that no request holds any more;
// the other one keeps the current one's models up to date.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "serve/generation.h"

namespace wasinn::serve {

// Thread-safe. It outlives its generations.
class Reloader {
 public:
  // `reload` is called once for all earlier requests, and returns whether there is a new generation. `upkeep` is called
  // on the other thread every second, and with true after such a reload.
  Reloader(std::function<bool()> reload, std::function<void(bool)> upkeep);
  ~Reloader();
  Reloader(const Reloader&) = delete;
  Reloader& operator=(const Reloader&) = delete;

  void Ask();
  // Releasing the last reference does not block.
  std::shared_ptr<Generation> Keep(std::unique_ptr<Generation> generation);
  // Begins nothing any more. A running job goes on, perhaps for long: the process does not wait for it.
  void Abandon();
  // Whether a reload or the upkeep runs, or a generation is being destroyed.
  bool is_busy() const;
  // As Abandon, but waits for running jobs.
  void Stop();

 private:
  void Serve();
  void Tend();
  // Runs the job without the lock; `is_running` is true meanwhile.
  static void Do(std::unique_lock<std::mutex>& lock, bool& is_running, const std::function<void()>& job);
  void Bury(Generation* generation) noexcept;
  static void EndAll(Generation* dead);

  const std::function<bool()> reload_;
  const std::function<void(bool)> upkeep_;
  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  bool is_asked_ = false, is_reloaded_ = false, is_stopped_ = false, reloads_ = false, tends_ = false;
  Generation* dead_ = nullptr;           // a list
  std::jthread reload_thread_, tender_;  // last: they use all the others
};

}  // namespace wasinn::serve
