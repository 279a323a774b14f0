#include "common/process_turn.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

namespace wasinn::backend {

bool ProcessTurn::Take(const char* file) {
  if (!file_.Open(open(file, O_RDONLY | O_CLOEXEC))) return false;
  int result = -1;
  do {
    result = flock(file_.number(), LOCK_EX);
  } while (result < 0 && errno == EINTR);
  return result == 0;
}

bool ProcessTurn::TryTake(const char* file) {
  if (!file_.Open(open(file, O_RDONLY | O_CLOEXEC)) || flock(file_.number(), LOCK_EX | LOCK_NB) == 0) return true;
  file_.Close();
  return false;
}

// Unlocked rather than closed alone: a child that was forked meanwhile has the descriptor, too.
void ProcessTurn::End() {
  if (!file_.is_open()) return;
  flock(file_.number(), LOCK_UN);
  file_.Close();
}

}  // namespace wasinn::backend
