// Leads from a framework without any guest's bytes to one that serves guests.
#pragma once

#include <optional>

#include "worker/framework.h"
#include "worker/sandbox.h"

namespace wasinn::worker {

// Call the functions in this order, each once. After an error no guest may be served.
class SandboxedFramework {
 public:
  explicit SandboxedFramework(FrameworkOf& framework) : framework_(framework) {}

  // Raises the sandbox, opens the framework if no zygote has done so, and computes something. Call it while there is
  // only one thread.
  core::Status Prepare();
  // From here on guests' bytes may come, and use the memory of the framework's settings.
  core::Status Seal();

 private:
  FrameworkOf& framework_;
  std::optional<Sandbox> sandbox_;
};

}  // namespace wasinn::worker
