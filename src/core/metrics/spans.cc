#include "core/metrics/spans.h"

#include <unistd.h>

namespace wasinn::core {
namespace {

uint64_t Nanoseconds(SteadyClock::duration duration) {
  return static_cast<uint64_t>(std::chrono::nanoseconds(duration).count());
}

}  // namespace

const char* StageName(Stage stage) {
  static constexpr const char* kNames[kStages] = {"inference", "queue", "compute_input", "compute_infer",
                                                  "compute_output"};
  return kNames[static_cast<size_t>(stage)];
}

void Spans::Report(wasinn_span span, SteadyClock::time_point began, SteadyClock::time_point ended) const {
  if (function_ == nullptr) return;
  span.struct_size = sizeof(wasinn_span);
  span.start_ns = Nanoseconds(began.time_since_epoch());
  span.duration_ns = Nanoseconds(ended - began);
  span.thread = static_cast<uint64_t>(::gettid());
  function_(user_, &span);
}

}  // namespace wasinn::core
