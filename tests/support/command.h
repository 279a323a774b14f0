// Runs a command as a user does, and keeps what it printed.
#pragma once

#include <string>
#include <vector>

namespace wasinn::testing {

struct CommandResult {
  int exit_code = -1;  // 128 + signal if it was killed by one
  std::string out, err;
};

// argv[0] is a path. `environment` adds NAME=VALUE to this program's own. Runs in `folder` if that is not "". A command
// that takes longer than `timeout_s` is killed (exit code 128 + SIGKILL).
CommandResult RunCommand(const std::vector<std::string>& argv, const std::vector<std::string>& environment = {},
                         const std::string& folder = "", int timeout_s = 100);

}  // namespace wasinn::testing
