// How inferences of separate guests on one model become one, in Triton's words ("dynamic batching").
#pragma once

#include <cstdint>
#include <vector>

#include "core/status.h"

namespace wasinn::core {

struct Batching {
  static constexpr uint32_t kMostRows = 4096, kMostInstances = 256;

  uint32_t max_batch_size = 0;                 // rows: the first dimension of each input and output; 0: no batches
  std::vector<uint32_t> preferred_batch_size;  // as many rows are not waited for any longer
  uint32_t max_queue_delay_microseconds = 0;   // how long an inference waits for others
  // How many batches compute at once; 0: as many as there are processors for the threads of each.
  uint32_t instance_count = 0;

  bool is_on() const { return max_batch_size > 0; }
  // INVALID_ARGUMENT where these do not go together.
  Status Check() const;
};

}  // namespace wasinn::core
