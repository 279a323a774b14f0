// Jobs for tests of what runs them.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "serve/threads/workers.h"

namespace wasinn::serve {

inline const Share kAnybody;

inline Workers::Job Running(std::function<void()> run) { return {std::move(run), nullptr, &kAnybody}; }

// The outcomes of some jobs.
class JobEnds {
 public:
  Workers::Job Job(const Cancellation* cancellation = nullptr, const Share& share = kAnybody) {
    return {[this] { ++n_run_; }, [this](const Failure& failure) { refused_.push_back(failure.code); }, &share,
            cancellation};
  }
  int n_run() const { return n_run_; }
  const std::vector<wasinn_code>& refused() const { return refused_; }

 private:
  std::atomic<int> n_run_{0};
  std::vector<wasinn_code> refused_;
};

using Codes = std::vector<wasinn_code>;

// Until another thread has done it.
void Await(const auto& is_done) {
  while (!is_done()) std::this_thread::yield();
}

}  // namespace wasinn::serve
