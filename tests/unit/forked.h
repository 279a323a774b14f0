// What happens in an OS process that was forked off, which has none of the threads.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace wasinn::testing {

// True if `function` returns true there, within 10 s.
template <typename Function>
::testing::AssertionResult IsTrueInAFork(Function&& function) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    ::_exit(function() ? 0 : 1);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return ::testing::AssertionFailure() << "no process";
  if (WIFSIGNALED(status)) return ::testing::AssertionFailure() << "ended by signal " << WTERMSIG(status);
  return WEXITSTATUS(status) == 0 ? ::testing::AssertionSuccess() : ::testing::AssertionFailure();
}

}  // namespace wasinn::testing
