// A place at which a compute or a load of the echo backend waits for a test, in this process or in another one.
#pragma once

#include "support/files.h"
#include "support/test.h"

namespace wasinn::testing {

class Gate {
 public:
  // The line of a model that computes, or loads, behind this gate.
  std::string Compute() const { return "gate " + path() + "\n"; }
  std::string Load() const { return "load_gate " + path() + "\n"; }
  std::string Unload() const { return "unload_gate " + path() + "\n"; }
  // The same for the making of a context, and for its freeing.
  std::string Context() const { return "context_gate " + path() + "\n"; }
  std::string Free() const { return "free_gate " + path() + "\n"; }
  // The same for a cancel of a compute, which must not block.
  std::string Cancel() const { return "cancel_gate " + path() + "\n"; }
  // The same for the backend's open, as configuration.
  std::string BackendOpen() const { return "[backends.echo]\ngate = '" + path() + "'\n"; }

  // Until something is at the gate. What never comes is ended by the test's time limit.
  void Await() const;
  // For all that wait and will come, until it is closed.
  void Open() const;
  // Nothing is at the gate any more, which was open.
  void Close() const;

 private:
  std::string path() const { return folder_ / "gate"; }

  TestFolder folder_;
};

}  // namespace wasinn::testing
