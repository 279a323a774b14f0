// The processes that a host has started, which are no children of its own.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include "support/files.h"
#include "support/test.h"

namespace wasinn::testing {

// A name of its own for the worker's program, by which processes of one host can be told from others'.
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
// Of a process, those that nobody has waited for among them.
size_t CountChildren(pid_t process);

}  // namespace wasinn::testing
