// Where a framework lies, for who must know it before the framework is opened.
#pragma once

#include "worker/framework.h"

namespace wasinn::worker {

// Opens the framework in an OS process of its own, and keeps the folders of all libraries that it has then (FrameworkOf::folders): a driver
// that the framework looks for there leaves nothing in this process. Only while this is the only thread.
core::Status FindFolders(FrameworkOf& framework);

}  // namespace wasinn::worker
