// This machine's support for a worker's sandbox: for refusals with a reason, and for reports.
#pragma once

#include <string>

#include "worker/sandbox_options.h"

namespace wasinn::worker {

struct SandboxSupport {
  bool seccomp = false;  // filters for all threads at once, which can end a process
  bool no_new_privs = false;
  bool seals = false;        // for files in memory, against all changes
  bool exec_memory = false;  // writable memory may become executable
  int landlock = 0;          // version of its interface; 0: there is none

  // The reason why there can be no worker with this sandbox: a missing requirement; "": none is missing.
  std::string Missing(const SandboxOptions& options) const;
};

// Changes nothing in this OS process. Thread-safe.
SandboxSupport FindSandboxSupport();

}  // namespace wasinn::worker
