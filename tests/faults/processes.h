// The processes that a host has started, which are no children of its own.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include "support/files.h"
#include "support/test.h"

namespace wasinn::testing {

// A name of its own for the worker's program, by which the processes of one host can be recognised.
class WorkerName {
 public:
  WorkerName();

  const std::string& path() const { return path_; }
  // Those that run under this name: templates make workers, which are their children.
  std::vector<pid_t> Zygotes() const { return Find(false); }
  std::vector<pid_t> Workers() const { return Find(true); }

 private:
  std::vector<pid_t> Find(bool workers) const;

  const TestFolder folder_;
  const std::string path_;
};

// Ends it, and returns when it is dead.
void Kill(pid_t process);
// The children of a process, including those that are not waited for yet.
size_t CountChildren(pid_t process);

}  // namespace wasinn::testing
