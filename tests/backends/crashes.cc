#include "backends/crashes.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace wasinn::test {

int Crashes::SignalOf(const std::string& bytes) const {
  const pid_t child = fork();
  if (child == 0) {
#ifndef __SANITIZE_ADDRESS__  // which has reserved terabytes of addresses already
    const rlimit memory = {size_t{4} << 30, size_t{4} << 30};
    setrlimit(RLIMIT_AS, &memory);
#endif
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    alarm(20);
    int ended = 0;
    try {
      run_(bytes);
    } catch (...) {
      ended = 1;
    }
    _exit(ended);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

void Crashes::Try(const std::string& name, const std::string& bytes) {
  ++tried_;
  if (const int signal = SignalOf(bytes); signal != 0) names_[signal].push_back(name);
}

void Crashes::ExpectNone() const {
  for (const auto& [signal, names] : names_) {
    ADD_FAILURE() << names.size() << " of " << tried_ << " end with " << strsignal(signal) << ": "
                  << ::testing::PrintToString(names);
  }
}

}  // namespace wasinn::test
