// A model that a framework computes before the sandbox is sealed, so that the framework has opened its late libraries
// and started its threads.
#pragma once

#include "worker/framework.h"

namespace wasinn::worker {

// Does nothing if that was done, or if there is no such model for the backend.
core::Status WarmUp(FrameworkOf& framework);

// Opens as much of it as a forked worker can use.
core::Status OpenForWorkers(FrameworkOf& framework);

}  // namespace wasinn::worker
