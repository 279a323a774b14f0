#include "serve/reloader.h"

#include <utility>

#include "serve/log.h"

namespace wasinn::serve {

Reloader::Reloader(std::function<bool()> reload, std::function<void(bool)> upkeep)
    : reload_(std::move(reload)),
      upkeep_(std::move(upkeep)),
      reload_thread_([this] { Serve(); }),
      tender_([this] { Tend(); }) {}

Reloader::~Reloader() {
  Stop();
  EndAll(dead_);
}

void Reloader::Ask() {
  bool waits = false;
  {
    const std::lock_guard lock(mutex_);
    is_asked_ = true;
    waits = reloads_;
  }
  if (waits) Log(WASINN_LOG_INFO, "SIGHUP: waits for the last configuration, which still loads or ends");
  wake_.notify_all();
}

std::shared_ptr<Generation> Reloader::Keep(std::unique_ptr<Generation> generation) {
  return {generation.release(), [this](Generation* dead) { Bury(dead); }};
}

void Reloader::Bury(Generation* generation) noexcept {
  {
    const std::lock_guard lock(mutex_);
    generation->next_dead_ = std::exchange(dead_, generation);
  }
  wake_.notify_all();
}

void Reloader::EndAll(Generation* dead) {
  while (dead != nullptr) {
    const std::unique_ptr<Generation> one(dead);
    dead = one->next_dead_;
  }
}

void Reloader::Do(std::unique_lock<std::mutex>& lock, bool& is_running, const std::function<void()>& job) {
  is_running = true;
  lock.unlock();
  try {
    job();
  } catch (const std::exception& thrown) {
    LogError(thrown.what());
  }
  lock.lock();
  is_running = false;
}

void Reloader::Serve() {
  for (std::unique_lock lock(mutex_);;) {
    wake_.wait(lock, [this] { return is_stopped_ || is_asked_ || dead_ != nullptr; });
    if (is_stopped_) return;
    const bool is_asked = std::exchange(is_asked_, false);
    Generation* const dead = std::exchange(dead_, nullptr);
    bool is_reloaded = false;
    Do(lock, reloads_, [&] {
      EndAll(dead);
      is_reloaded = is_asked && reload_();
    });
    if (!is_reloaded) continue;
    is_reloaded_ = true;
    wake_.notify_all();
  }
}

void Reloader::Tend() {
  for (std::unique_lock lock(mutex_);;) {
    wake_.wait_for(lock, std::chrono::seconds(1), [this] { return is_stopped_ || is_reloaded_; });
    if (is_stopped_) return;
    Do(lock, tends_, [this, is_reloaded = std::exchange(is_reloaded_, false)] { upkeep_(is_reloaded); });
  }
}

bool Reloader::is_busy() const {
  const std::lock_guard lock(mutex_);
  return reloads_ || tends_;
}

void Reloader::Abandon() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  wake_.notify_all();
}

void Reloader::Stop() {
  Abandon();
  for (std::jthread* const one : {&reload_thread_, &tender_}) {
    if (one->joinable()) one->join();
  }
}

}  // namespace wasinn::serve
