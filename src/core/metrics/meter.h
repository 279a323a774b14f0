// What one context measures: how its computes ended, and, where the host wants it, how long their steps took.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "core/memory/copy.h"
#include "core/metrics/metrics.h"
#include "core/status.h"

namespace wasinn::core {

// One thread at a time, as the context itself; others may read.
class Meter {
 public:
  using Times = std::array<Histogram, kStages>;

  // All of it outlives the meter, the guest's name too. NULL where nobody asks about this context.
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

  // Inferences that were computed together, of which this is one: one of them counts it.
  void CountBatch(uint32_t rows) {
    CountOne(batches_);
    batch_rows_.store(batch_rows_.load(std::memory_order_relaxed) + rows, std::memory_order_relaxed);
  }

  uint64_t batches() const { return batches_.load(std::memory_order_relaxed); }
  uint64_t batch_rows() const { return batch_rows_.load(std::memory_order_relaxed); }
  uint64_t succeeded(Event event) const {
    return succeeded_[static_cast<size_t>(event)].load(std::memory_order_relaxed);
  }
  // NULL: the host does not want them.
  const Times* times() const { return times_.get(); }

  // Around a step, which is in no other one of its stage. Looks at no clock unless the host wants it, and costs the path of
  // each inference a comparison. What waits or computes does so since
  // the step before it ended, or its inference began: of these only the end is told.
  void Begin(Stage stage) {
    if (times_ != nullptr) [[unlikely]]
      LookAtBegin(stage);
  }
  void End(Stage stage, wasinn_code code = WASINN_OK) {
    if (times_ != nullptr) [[unlikely]]
      LookAtEnd(stage, code, SteadyClock::now());
  }
  // The same of a step that somebody else has seen the end of.
  void EndAt(Stage stage, SteadyClock::time_point end) {
    if (times_ != nullptr) [[unlikely]]
      LookAtEnd(stage, WASINN_OK, end);
  }
  // Likewise.
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

  // A compute, whatever it consists of.
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
  SteadyClock::time_point next_;  // when the last step ended, or the one that is under way began
  // For spans: what is set belongs to the next compute, what is got to the last.
  uint64_t inference_ = 0;
  bool has_computed_ = true;
};

}  // namespace wasinn::core
