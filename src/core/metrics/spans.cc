#include "core/metrics/spans.h"

#include <unistd.h>

#include "core/metrics/series.h"

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

void Spans::Report(const char* name, wasinn_code code, const GuestTag& guest, uint64_t inference,
                   const ModelMetrics& model, const std::string& backend, SteadyClock::time_point began,
                   SteadyClock::time_point ended) const {
  if (function_ == nullptr) return;
  const wasinn_span span{.struct_size = sizeof(wasinn_span),
                         .code = code,
                         .name = name,
                         .start_ns = Nanoseconds(began.time_since_epoch()),
                         .duration_ns = Nanoseconds(ended - began),
                         .thread = static_cast<uint64_t>(::gettid()),
                         .guest = guest.number,
                         .guest_name = guest.name,
                         .inference = inference,
                         .model = model.name().c_str(),
                         .version = model.version().value_or(0),
                         .backend = backend.c_str()};
  function_(user_, &span);
}

}  // namespace wasinn::core
