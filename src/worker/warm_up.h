// A model that a framework computes before the wall stands: what it opens late, and the threads that it starts, are there
// then.
#pragma once

#include "worker/framework.h"

namespace wasinn::worker {

// Nothing where there is no such model for the backend.
core::Status WarmUp(const FrameworkOf& framework);

}  // namespace wasinn::worker
