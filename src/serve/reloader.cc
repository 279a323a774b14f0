#include "serve/reloader.h"

#include <utility>

#include "cli/log.h"
#include "serve/log.h"

namespace wasinn::serve {

Reloader::Reloader(std::function<void()> reload, std::function<void()> upkeep)
    : reload_(std::move(reload)), upkeep_(std::move(upkeep)), thread_([this] { Serve(); }) {}

Reloader::~Reloader() {
  Stop();
  EndAll(dead_);
}

void Reloader::Ask() {
  bool waits = false;
  {
    const std::lock_guard lock(mutex_);
    is_asked_ = true;
    waits = is_busy_;
  }
  if (waits) cli::Log(WASINN_LOG_INFO, "SIGHUP: waits for what was read last, which still loads or ends");
  wake_.notify_one();
}

std::shared_ptr<Generation> Reloader::Keep(std::unique_ptr<Generation> generation) {
  return {generation.release(), [this](Generation* dead) { Bury(dead); }};
}

void Reloader::Bury(Generation* generation) noexcept {
  {
    const std::lock_guard lock(mutex_);
    generation->next_dead_ = std::exchange(dead_, generation);
  }
  wake_.notify_one();
}

void Reloader::EndAll(Generation* dead) {
  while (dead != nullptr) {
    const std::unique_ptr<Generation> one(dead);
    dead = one->next_dead_;
  }
}

void Reloader::Serve() {
  for (std::unique_lock lock(mutex_);;) {
    const bool is_told =
        wake_.wait_for(lock, std::chrono::seconds(1), [this] { return is_stopped_ || is_asked_ || dead_ != nullptr; });
    if (!is_told && !upkeep_) continue;
    if (is_stopped_) return;
    const bool is_asked = std::exchange(is_asked_, false);
    Generation* const dead = std::exchange(dead_, nullptr);
    is_busy_ = true;
    lock.unlock();
    EndAll(dead);
    try {
      if (is_asked) reload_();
      if (upkeep_) upkeep_();
    } catch (const std::exception& thrown) {
      LogError(thrown.what());
    }
    lock.lock();
    is_busy_ = false;
  }
}

bool Reloader::is_busy() const {
  const std::lock_guard lock(mutex_);
  return is_busy_;
}

void Reloader::Abandon() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  wake_.notify_one();
}

void Reloader::Stop() {
  Abandon();
  if (thread_.joinable()) thread_.join();
}

}  // namespace wasinn::serve
