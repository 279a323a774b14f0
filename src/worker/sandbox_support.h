// What this machine has of what a worker's sandbox is made of: for a refusal that says its reason, and for who asks what holds here.
#pragma once

#include <string>

#include "worker/sandbox_options.h"

namespace wasinn::worker {

struct SandboxSupport {
  bool seccomp = false;  // filters for all threads at once, which can end a process
  bool no_new_privs = false;
  bool seals = false;        // of files in memory, against all changes
  bool exec_memory = false;  // memory that is writable may become executable
  int landlock = 0;          // version of its interface; 0: there is none

  // Why there can be no worker with this sandbox: what is missing of what it cannot do without; "": nothing.
  std::string Missing(const SandboxOptions& options) const;
};

// Changes nothing of this OS process. Any thread.
SandboxSupport FindSandboxSupport();

}  // namespace wasinn::worker
