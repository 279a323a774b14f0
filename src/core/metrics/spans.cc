#include "core/metrics/spans.h"

#include <unistd.h>

namespace wasinn::core {
namespace {

uint64_t Nanoseconds(SteadyClock::duration duration) {
  return static_cast<uint64_t>(std::chrono::nanoseconds(duration).count());
}

}  // namespace

const char* StageName(Stage stage) {
  switch (stage) {
    case Stage::kQueue:
      return "queue";
    case Stage::kInput:
      return "compute_input";
    case Stage::kCompute:
      return "compute_infer";
    case Stage::kOutput:
      return "compute_output";
    case Stage::kInference:
      break;
  }
  return "inference";
}

void Spans::Report(const Done& done, SteadyClock::time_point began, SteadyClock::time_point ended) const {
  if (function_ == nullptr) return;
  const wasinn_span span{.struct_size = sizeof(wasinn_span),
                         .code = done.code,
                         .name = done.name,
                         .start_ns = Nanoseconds(began.time_since_epoch()),
                         .duration_ns = Nanoseconds(ended - began),
                         .thread = static_cast<uint64_t>(::gettid()),
                         .guest = done.guest.number,
                         .guest_name = done.guest.name,
                         .inference = done.inference,
                         .model = done.model,
                         .version = done.version,
                         .backend = done.backend};
  function_(user_, &span);
}

}  // namespace wasinn::core
