// Runs a command as a user does, and keeps what it printed. Nothing here looks at the clock: ctest's TIMEOUT ends a
// command that hangs.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace wasinn::testing {

struct CommandResult {
  int exit_code = -1;  // 128 + signal if a signal ended it
  std::string out, err;
  size_t peak_bytes = 0;  // the most memory that it had resident, but no less than this process has
};

// argv[0] is a path. `environment` adds NAME=VALUE to this program's own. Runs in `folder` if that is not "".
CommandResult RunCommand(const std::vector<std::string>& argv, const std::vector<std::string>& environment = {},
                         const std::string& folder = "");

// A command that a test talks to while it runs.
class Child {
 public:
  // As RunCommand, but stdin is a pipe.
  explicit Child(const std::vector<std::string>& argv, const std::vector<std::string>& environment = {},
                 const std::string& folder = "");
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Writes a line to its stdin.
  void Say(const std::string& line) const;
  // Closes its stdin, and waits for its end.
  CommandResult Wait();

 private:
  pid_t pid_ = -1;
  int input_ = -1, output_ = -1, errors_ = -1;
};

}  // namespace wasinn::testing
