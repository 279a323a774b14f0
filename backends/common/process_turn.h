// A lock for all libraries of an OS process.
#pragma once

#include <sys/file.h>

#include <cerrno>

#include "base/descriptor.h"

namespace wasinn::backend {

// Backends, and two copies of one, share no memory, but they share the OS process, and so its own files in /proc.
class ProcessTurn {
 public:
  ProcessTurn() = default;
  ~ProcessTurn() { End(); }
  ProcessTurn(const ProcessTurn&) = delete;
  ProcessTurn& operator=(const ProcessTurn&) = delete;

  // Waits for the turn at `file`, which is below /proc/self. False: there is no such file here.
  bool Take(const char* file) {
    if (!file_.Open(open(file, O_RDONLY | O_CLOEXEC))) return false;
    int result = -1;
    do {
      result = flock(file_.number(), LOCK_EX);
    } while (result < 0 && errno == EINTR);
    return result == 0;
  }
  // False: another owner has it. If there is no such file, there is no exclusion.
  bool TryTake(const char* file) {
    if (!file_.Open(open(file, O_RDONLY | O_CLOEXEC)) || flock(file_.number(), LOCK_EX | LOCK_NB) == 0) return true;
    file_.Close();
    return false;
  }
  // Unlocked, not only closed: a child that was forked in the meantime has the descriptor, too.
  void End() {
    if (!file_.is_open()) return;
    flock(file_.number(), LOCK_UN);
    file_.Close();
  }

 private:
  base::Descriptor file_;
};

}  // namespace wasinn::backend
