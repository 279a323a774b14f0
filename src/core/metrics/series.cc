#include "core/metrics/series.h"

#include "core/inference/scheduler.h"
#include "core/metrics/meter.h"

namespace wasinn::core {

void Series::Join(const Meter& meter) {
  const std::lock_guard lock(mutex_);
  meters_.insert(&meter);
}

void Series::Leave(const Meter& meter) {
  const std::lock_guard lock(mutex_);
  if (meters_.erase(&meter) != 0) Add(meter, gone_);
}

void Series::CountLoad(wasinn_code code, std::chrono::nanoseconds duration) {
  const std::lock_guard lock(mutex_);
  ++gone_.loads[static_cast<size_t>(code)];
  load_times_.Observe(duration);
}

void Series::Add(const Meter& meter, Reading& sum) {
  for (size_t i = 0; i < kEvents; ++i) sum.events[i][WASINN_OK] += meter.succeeded(static_cast<Event>(i));
  sum.batches += meter.batches();
  sum.batch_rows += meter.batch_rows();
  if (meter.times() == nullptr) return;
  for (size_t i = 0; i < kStages; ++i) sum.stages[i].Add((*meter.times())[i]);
}

Series::Reading Series::Read() const {
  const std::lock_guard lock(mutex_);
  Reading sum = gone_;
  for (const Meter* meter : meters_) Add(*meter, sum);
  for (size_t event = 0; event < kEvents; ++event) {
    for (size_t code = 0; code < kCodes; ++code) {
      sum.events[event][code] += failures_[event][code].load(std::memory_order_relaxed);
    }
  }
  sum.load_times.Add(load_times_);
  sum.graphs = graphs_.size();
  sum.contexts = meters_.size();
  for (const Scheduler* scheduler : graphs_) {
    if (scheduler != nullptr) sum.waiting += scheduler->waiting();
  }
  return sum;
}

void Series::Join(const Scheduler* scheduler) {
  const std::lock_guard lock(mutex_);
  graphs_.insert(scheduler);
}

void Series::Leave(const Scheduler* scheduler) {
  const std::lock_guard lock(mutex_);
  graphs_.erase(graphs_.find(scheduler));
}

}  // namespace wasinn::core
