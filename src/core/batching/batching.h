// Joins inferences of separate guests on one model into batches: "dynamic batching" in Triton's words.
#pragma once

#include <cstdint>
#include <vector>

#include "core/status.h"

namespace wasinn::core {

struct Batching {
  static constexpr uint32_t kMostRows = 4096, kMostInstances = 256;

  uint32_t max_batch_size = 0;                 // rows: the first dimension of each input and output; 0: no batches
  std::vector<uint32_t> preferred_batch_size;  // a batch of this size waits for no more rows
  uint32_t max_queue_delay_microseconds = 0;   // how long an inference waits for others
  // How many batches compute at once; 0: as many as there are processors for the threads of each.
  uint32_t instance_count = 0;

  bool is_on() const { return max_batch_size > 0; }
  // INVALID_ARGUMENT if the settings contradict each other.
  Status Check() const;
};

}  // namespace wasinn::core
