// Where a framework lies, for who must know it before the framework is opened.
#pragma once

#include <chrono>

#include "worker/framework.h"

namespace wasinn::worker {

// Opens the framework in an OS process of its own, and keeps the folders of all libraries that it has then (FrameworkOf::folders): a driver
// that the framework looks for there leaves nothing in this process. Only while this is the only thread. Within `patience`, which is
// shorter than a host's with a zygote: one that hangs would be there for good, with the host's lock on the next.
core::Status FindFolders(FrameworkOf& framework, std::chrono::milliseconds patience = std::chrono::seconds(50));

}  // namespace wasinn::worker
