// The thread that makes new generations, and destroys those that no request holds any more: both may take long.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "serve/generation.h"

namespace wasinn::serve {

// Thread-safe. It outlives its generations.
class Reloader {
 public:
  // Both are called on the thread: `reload` once for all earlier requests, and `upkeep` (may be empty) every second.
  Reloader(std::function<void()> reload, std::function<void()> upkeep);
  ~Reloader();
  Reloader(const Reloader&) = delete;
  Reloader& operator=(const Reloader&) = delete;

  void Ask();
  // Releasing the last reference does not block.
  std::shared_ptr<Generation> Keep(std::unique_ptr<Generation> generation);
  // Begins nothing any more. A running reload goes on, perhaps for long: the process ends without it.
  void Abandon();
  // Whether a reload runs, or a generation is being destroyed.
  bool is_busy() const;
  // As Abandon, but waits for the reload.
  void Stop();

 private:
  void Serve();
  void Bury(Generation* generation) noexcept;
  static void EndAll(Generation* dead);

  const std::function<void()> reload_, upkeep_;
  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  bool is_asked_ = false, is_stopped_ = false, is_busy_ = false;
  Generation* dead_ = nullptr;  // a list
  std::jthread thread_;         // last: it uses all the others
};

}  // namespace wasinn::serve
