// From a framework that nothing of a guest has reached to one that serves guests.
#pragma once

#include <optional>

#include "worker/framework.h"
#include "worker/sandbox.h"

namespace wasinn::worker {

// In this order, each once. After an error no guest is served.
class SandboxedFramework {
 public:
  explicit SandboxedFramework(FrameworkOf& framework) : framework_(framework) {}

  // Raises the sandbox, opens the framework if that was not done by a zygote, and computes something. Only while this is
  // the only thread.
  core::Status Prepare();
  // From here on guests' bytes may come, and take as much memory as the framework's settings say.
  core::Status Seal();

 private:
  FrameworkOf& framework_;
  std::optional<Sandbox> sandbox_;
};

}  // namespace wasinn::worker
