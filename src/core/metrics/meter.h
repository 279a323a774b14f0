// Measures one context: how its computes ended, and, if the host asks for it, how long their steps took.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "core/memory/copy.h"
#include "core/metrics/metrics.h"
#include "core/status.h"

namespace wasinn::core {

// One thread at a time, like the context itself; others may read.
class Meter {
 public:
  using Times = std::array<Histogram, kStages>;

  // The objects outlive the meter, and so does the guest's name. NULL: this context is not measured.
  struct Of {
    Metrics* metrics = nullptr;
    GuestTag guest{};
  };
  Meter(const Of& of, const GraphMetrics* graph);
  ~Meter();
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  void Count(Event event, wasinn_code code) {
    if (code == WASINN_OK) {
      CountOne(succeeded_[static_cast<size_t>(event)]);
    } else {
      CountFailure(event, code);
    }
  }

  // This inference was computed in a batch: one inference of each batch counts it.
  void CountBatch(uint32_t rows) {
    CountOne(batches_);
    batch_rows_.store(batch_rows_.load(std::memory_order_relaxed) + rows, std::memory_order_relaxed);
  }

  uint64_t batches() const { return batches_.load(std::memory_order_relaxed); }
  uint64_t batch_rows() const { return batch_rows_.load(std::memory_order_relaxed); }
  uint64_t succeeded(Event event) const {
    return succeeded_[static_cast<size_t>(event)].load(std::memory_order_relaxed);
  }
  // NULL: the host does not measure times.
  const Times* times() const { return times_.get(); }

  // Called around a step; steps of one stage are not nested. Reads no clock unless the host measures times; else it
  // costs each inference one comparison. Waits and computes begin when the step before them ends, or with the
  // inference: only their ends are reported.
  void Begin(Stage stage) {
    if (times_ != nullptr) [[unlikely]]
      LookAtBegin(stage);
  }
  void End(Stage stage, wasinn_code code = WASINN_OK) {
    if (times_ != nullptr) [[unlikely]]
      LookAtEnd(stage, code, SteadyClock::now());
  }
  // As End, for a step whose end another thread saw.
  void EndAt(Stage stage, SteadyClock::time_point end) {
    if (times_ != nullptr) [[unlikely]]
      LookAtEnd(stage, WASINN_OK, end);
  }
  // Calls Begin and End.
  class Timing {
   public:
    Timing(Meter& meter, Stage stage) : meter_(meter), stage_(stage) { meter_.Begin(stage_); }
    ~Timing() { meter_.End(stage_); }
    Timing(const Timing&) = delete;
    Timing& operator=(const Timing&) = delete;

   private:
    Meter& meter_;
    const Stage stage_;
  };

  // Measures a compute with all its steps.
  template <typename F>
  auto Measure(F compute) {
    if (times_ != nullptr) [[unlikely]]
      return MeasureIt(compute);
    auto result = compute();
    Count(Event::kInference, CodeOf(result));
    return result;
  }

 private:
  template <typename F>
  [[gnu::noinline]] auto MeasureIt(F& compute) {
    LookAtBegin(Stage::kInference);
    auto result = compute();
    Count(Event::kInference, CodeOf(result));
    LookAtEnd(Stage::kInference, CodeOf(result), SteadyClock::now());
    return result;
  }
  static wasinn_code CodeOf(const Status& status) { return status.code(); }
  template <typename T>
  static wasinn_code CodeOf(const Result<T>& result) {
    return result ? WASINN_OK : result.error().code();
  }
  [[gnu::noinline]] void CountFailure(Event event, wasinn_code code);
  [[gnu::noinline]] void LookAtBegin(Stage stage);
  [[gnu::noinline]] void LookAtEnd(Stage stage, wasinn_code code, SteadyClock::time_point now);

  Metrics* const metrics_;
  const GuestTag guest_;
  const GraphMetrics* const graph_;
  std::array<std::atomic<uint64_t>, kEvents> succeeded_{};
  std::atomic<uint64_t> batches_{0}, batch_rows_{0};
  std::unique_ptr<Times> times_;
  std::array<SteadyClock::time_point, kStages> began_;
  SteadyClock::time_point next_;  // when the last step ended, or the current one began
  // For spans: the setter is for the next compute, the getter for the last.
  uint64_t inference_ = 0;
  bool has_computed_ = true;
};

}  // namespace wasinn::core
