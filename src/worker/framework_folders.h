// Finds a framework's folders before the framework is opened.
#pragma once

#include <chrono>

#include "worker/framework.h"

namespace wasinn::worker {

// Opens the framework in another OS process, and keeps the folders of all libraries there (FrameworkOf::folders), so
// that no driver leaves anything in this process. Call it while there is only one thread. `patience` is shorter than a
// host's with a zygote: a zygote that hangs would stay for good, with the host's lock on the next one.
core::Status FindFolders(FrameworkOf& framework, std::chrono::milliseconds patience = std::chrono::seconds(50));

}  // namespace wasinn::worker
