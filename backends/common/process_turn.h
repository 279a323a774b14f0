// A lock that all libraries of an OS process see.
#pragma once

#include "base/descriptor.h"

namespace wasinn::backend {

// Backends, and two copies of one, share no memory, but they share the OS process, and so the files of its own.
class ProcessTurn {
 public:
  ProcessTurn() = default;
  ~ProcessTurn() { End(); }
  ProcessTurn(const ProcessTurn&) = delete;
  ProcessTurn& operator=(const ProcessTurn&) = delete;

  // Waits until nobody else has the turn at `file`, which is below /proc/self. False: there is no such file here.
  bool Take(const char* file);
  // False: somebody else has it. Where there is no such file nobody is kept apart.
  bool TryTake(const char* file);
  void End();

 private:
  base::Descriptor file_;
};

}  // namespace wasinn::backend
