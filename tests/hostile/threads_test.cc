// Guests with threads: nothing is lost, nothing gets mixed, and a guest that ends in the middle of a compute is gone.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "hostile/run.h"

namespace wasinn::testing {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

CommandResult RunThreads(const std::string& how) {
  return GuestRun{.guest = "threads",
                  .args = {how},
                  .flags = {"--engine", "wamr", "--nn-timeout", "0", "--model", "model=" + TinyPath("dynamic")},
                  .models = {"endless"}}
      .Execute();
}

TEST(HostileThreads, TenThousandCallsOfEachOfEight) {
  const CommandResult result = RunThreads("stress");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  unsigned made = 0, busy = 0;
  ASSERT_EQ(std::sscanf(result.out.c_str(), "made %u, busy %u", &made, &busy), 2) << result.out;
  EXPECT_EQ(made + busy, 20'000u);
  EXPECT_GT(made, 0u);
  for (const std::string& line : GuestLog(result)) {
    EXPECT_TRUE(HasInOrder(line, {"compute: busy"}) || HasInOrder(line, {"not logged"})) << line;
  }
}

// There is no deadline: what ends these computes is that their guest has ended.
TEST(HostileThreads, AGuestThatEndsWhileItComputes) {
  const struct {
    const char* how;
    int exit_code;
  } ends[] = {{"trap", 134}, {"exit", 7}, {"return", 0}};
  for (const auto& end : ends) {
    const auto start = steady_clock::now();
    const CommandResult result = RunThreads(end.how);
    EXPECT_EQ(result.exit_code, end.exit_code) << end.how << result.err;
    EXPECT_LT(steady_clock::now() - start, seconds(20)) << end.how;
    EXPECT_FALSE(GuestLog(result).empty());
    for (const std::string& line : GuestLog(result)) {
      EXPECT_TRUE(HasInOrder(line, {"compute", "its context or process was closed"})) << line;
    }
  }
}

}  // namespace
}  // namespace wasinn::testing
