// Work in an OS process of its own, for it may end that, or put a sandbox around it that stays.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace wasinn::test {

struct Ended {
  int exit_code = -1;  // -1: by a signal
  int signal = 0;
  std::string said;  // on stdout and stderr, which are a pipe: a file would be one that must not grow
};
std::ostream& operator<<(std::ostream& out, const Ended& ended);

// `work` gives the exit code; what it throws is said, and 99. Only while the caller is the only thread.
Ended InChild(const std::function<int()>& work);

}  // namespace wasinn::test
