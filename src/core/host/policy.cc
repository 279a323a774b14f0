#include "core/host/policy.h"

#include <algorithm>

#include "core/models/model_name.h"
#include "core/words.h"

namespace wasinn::core {

Status Policy::CheckLoad(wasinn_target target) const {
  if (load != WASINN_LOAD_ISOLATED && load != WASINN_LOAD_IN_PROCESS) {
    return Error(WASINN_ERROR_SECURITY, "the host's policy does not let guests load their own models (policy.load)");
  }
  return CheckTarget(target);
}

Status Policy::CheckTarget(wasinn_target target) const {
  if (target <= WASINN_TARGET_AUTO && (targets >> target & 1) != 0) return Status();
  return Error(WASINN_ERROR_SECURITY, "the host's policy does not allow target {}", TargetName(target));
}

Status Policy::CheckEncoding(std::string_view encoding) const {
  if (!encodings || std::ranges::find(*encodings, encoding) != encodings->end()) return Status();
  return Error(WASINN_ERROR_SECURITY, "the host's policy does not allow encoding {}", encoding);
}

Status Policy::CheckName(std::string_view name) const {
  if (!models) return Status();
  const auto has = [&](std::string_view model) { return std::ranges::find(*models, model) != models->end(); };
  if (has(name)) return Status();
  if (const auto split = SplitVersion(name); split && has(split->first)) return Status();
  return Error(WASINN_ERROR_SECURITY, "the host's policy (policy.models) does not let this guest use model '{}'", name);
}

wasinn_limits DefaultLimits() {
  return {.struct_size = sizeof(wasinn_limits),
          .max_graphs = 64,
          .max_contexts = 256,
          .max_builders = 16,
          .max_name_bytes = 1024,
          .max_log_messages = 100,
          .max_model_bytes = uint64_t{1} << 30,
          .max_tensor_bytes = uint64_t{1} << 30,
          .load_timeout_ms = 60'000,
          .compute_timeout_ms = 30'000,
          .max_tensors = 16'384,
          .max_errors = 1'024,
          .run_timeout_ms = 0,
          .max_memory_bytes = UINT64_MAX};
}

}  // namespace wasinn::core
