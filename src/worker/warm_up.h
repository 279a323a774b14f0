// A model that a framework computes before the sandbox holds: what it opens late, and the threads that it starts, are there
// then.
#pragma once

#include "worker/framework.h"

namespace wasinn::worker {

// Nothing where that was done, or where there is no such model for the backend.
core::Status WarmUp(FrameworkOf& framework);

// As much of it as a worker that is forked off can go on with.
core::Status OpenForWorkers(FrameworkOf& framework);

}  // namespace wasinn::worker
