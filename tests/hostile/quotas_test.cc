// Ten thousand of everything.
#include <gtest/gtest.h>

#include "hostile/child.h"
#include "hostile/run.h"

namespace wasinn::testing {
namespace {

constexpr size_t kMostBytes = size_t{kSanitized ? 1500 : 500} << 20;

// `errors`: how many calls fail. The log stops after 100 of them, and says so.
void ExpectBounded(const std::string& kind, const std::vector<Attack>& lines, bool many_errors = true) {
  const GuestRun run{.guest = "quotas", .args = {kind}, .flags = {"--dir", SourcePath("models") + "::/models"}};
  const TempFolder scratch;
  Child child(run.Command(scratch), Environment());
  CommandResult result;
  result.exit_code = child.Wait(std::chrono::seconds(run.timeout_s));
  result.out = child.out();
  result.err = child.err();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::string expected;
  for (const Attack& line : lines) expected += line.what + (line.error.empty() ? "" : ": " + line.error) + "\n";
  EXPECT_EQ(result.out, expected);
  EXPECT_LT(child.peak_bytes(), kMostBytes);
  const std::vector<std::string> log = GuestLog(result);
  ASSERT_EQ(log.size(), many_errors ? 101u : 0u);
  EXPECT_TRUE(HasInOrder(log.back(), {"further errors are not logged"})) << log.back();
  EXPECT_TRUE(HasInOrder(log.front(), lines.front().log)) << log.front();
}

TEST(HostileQuotas, TenThousandGraphs) {
  // The honest graph is one of the 64.
  const std::vector<std::string> logged = {"load: too_large: 1 more graphs would exceed the limit of 64 (64 held)"};
  ExpectBounded("graphs", {{"graphs: 63 success 9937 too_large", "", logged}, Honest()});
}

TEST(HostileQuotas, TenThousandGraphsOfOneName) {
  const std::vector<std::string> logged = {"load_by_name: too_large: 1 more graphs would exceed the limit of 64"};
  ExpectBounded("names", {{"names: 63 success 9937 too_large", "", logged}, Honest()});
}

TEST(HostileQuotas, TenThousandContexts) {
  const std::vector<std::string> logged = {
      "init_execution_context: too_large: 1 more contexts would exceed the limit of 256 (256 held)"};
  ExpectBounded("contexts", {{"load", "success", logged}, Line("contexts: 255 success 9745 too_large"), Honest()});
}

TEST(HostileQuotas, WhatFailsTakesNothing) {
  const std::vector<std::string> logged = {"load: invalid_encoding: onnx: "};
  ExpectBounded("failures", {{"broken models: 10000 invalid_encoding", "", logged},
                             Line("unknown names: 10000 not_found"),
                             Line("dead graphs: 10000 invalid_argument"),
                             Line("graphs: 63 success 9937 too_large"),
                             Honest()});
}

}  // namespace
}  // namespace wasinn::testing
