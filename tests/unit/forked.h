// Code that runs in an OS process that was forked off, which has none of the threads. AddressSanitizer's allocator cannot be used there if
// another thread was in it at that moment, so a test forks while its other threads wait.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

namespace wasinn::testing {

// True if `function` returns true there. A child that hangs ends with this process.
template <typename Function>
::testing::AssertionResult IsTrueInAFork(Function&& function) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::_exit(function() ? 0 : 1);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return ::testing::AssertionFailure() << "no process";
  if (WIFSIGNALED(status)) return ::testing::AssertionFailure() << "ended by signal " << WTERMSIG(status);
  return WEXITSTATUS(status) == 0 ? ::testing::AssertionSuccess() : ::testing::AssertionFailure();
}

}  // namespace wasinn::testing
