#include "core/batching/batching.h"

namespace wasinn::core {

Status Batching::Check() const {
  if (max_batch_size > kMostRows) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "max_batch_size is {}: it may be {} at most", max_batch_size,
                 kMostRows);
  }
  if (instance_count > kMostInstances) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "instance_count is {}: it may be {} at most", instance_count,
                 kMostInstances);
  }
  const bool has_more = instance_count > 0 || max_queue_delay_microseconds > 0 || !preferred_batch_size.empty();
  if (!is_on() && has_more) return Error(WASINN_ERROR_INVALID_ARGUMENT, "batching needs a max_batch_size");
  for (const uint32_t size : preferred_batch_size) {
    if (size > 0 && size <= max_batch_size) continue;
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "a preferred_batch_size is {}: expected 1 to max_batch_size, {}", size,
                 max_batch_size);
  }
  return Status();
}

}  // namespace wasinn::core
