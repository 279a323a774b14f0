// A guest that infers with a named model all the time, next to others.
#pragma once

#include "hostile/isolated_host.h"
#include "support/test.h"

namespace wasinn::testing {

class Witness {
 public:
  using Duration = std::chrono::nanoseconds;
  // Begins. Between two inferences it pauses: without that it has a processor for itself.
  explicit Witness(wasinn_host* host, Duration pause = Duration(0));
  ~Witness();
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

  // Ends.
  void Stop();
  // After its end: how long all but a part of the inferences took at most: 0.99 for p99, 1 for the longest.
  Duration Quantile(double part) const;
  // Inferences so far; and those that failed or whose result was another than the first, which is a two.
  uint64_t inferences() const { return inferences_; }
  uint64_t wrong() const { return wrong_; }

 private:
  void Run(wasinn_host* host, Duration pause);

  std::atomic<bool> stop_ = false;
  std::atomic<uint64_t> inferences_ = 0, wrong_ = 0;
  // How many took so many half microseconds; what is longer than all of them is in the last.
  std::vector<uint32_t> took_ = std::vector<uint32_t>(200'000);
  Duration longest_{0};
  std::thread thread_;
};

}  // namespace wasinn::testing
