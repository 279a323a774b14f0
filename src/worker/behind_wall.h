// From a framework that nothing of a guest has reached to one that serves guests.
#pragma once

#include "worker/framework.h"

namespace wasinn::worker {

// Raises the wall, opens the framework if that was not done by a template, computes something, and seals the wall. Only
// while this is the only thread. After an error no guest is served.
core::Status OpenBehindWall(FrameworkOf& framework);

}  // namespace wasinn::worker
