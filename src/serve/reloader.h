// The thread that makes new generations, and ends those that no request holds any more: both may take long.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "serve/generation.h"

namespace wasinn::serve {

// Any thread. It outlives the generations that it keeps.
class Reloader {
 public:
  // Both are called on the thread: `reload` once for all that was asked for by then, and `upkeep` (none: nothing) every second.
  Reloader(std::function<void()> reload, std::function<void()> upkeep);
  ~Reloader();
  Reloader(const Reloader&) = delete;
  Reloader& operator=(const Reloader&) = delete;

  void Ask();
  // Whoever lets go of the last reference waits for nothing.
  std::shared_ptr<Generation> Keep(std::unique_ptr<Generation> generation);
  // Begins nothing any more. A reload that runs goes on, perhaps for long: the process ends without it.
  void Abandon();
  // Whether a reload runs, or what was kept ends.
  bool is_busy() const;
  // The same, and waits for that reload.
  void Stop();

 private:
  void Serve();
  void Bury(Generation* generation) noexcept;
  static void EndAll(Generation* dead);

  const std::function<void()> reload_, upkeep_;
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable wake_;
  bool is_asked_ = false, is_stopped_ = false, is_busy_ = false;
  Generation* dead_ = nullptr;  // a list
  std::jthread thread_;         // last: it uses all the others
};

}  // namespace wasinn::serve
