// Where a guest's tensors lie, and what they are charged to.
#pragma once

#include <cstdint>

#include "core/buffer_pool.h"
#include "core/quota.h"

namespace wasinn::core {

// All of it outlives what it is given to.
struct TensorMemory {
  Quota& quota;
  BufferPool& pool;
  uint64_t pool_user;  // the guest, there
};

}  // namespace wasinn::core
