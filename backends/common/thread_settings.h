// The key "threads": of one compute, the caller's included.
#pragma once

#include <cstdint>

#include "common/config.h"

namespace wasinn::backend {

// What the whole host may have, which every framework takes as an int.
int ThreadBudget(uint32_t budget);

// A backend's: 1 to the host's budget, which is the default.
int BackendThreads(const Config& backend, uint32_t budget);

// A model's: the host says 1 to `most`, or nothing and means `usual`; a guest may ask for more than there is, but gets
// no more than that.
int ModelThreads(const Config& host, const Config& guest, int most, int usual);

}  // namespace wasinn::backend
