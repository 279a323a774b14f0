// Far more of everything than a guest may have.
#include <gtest/gtest.h>

#include "hostile/made_models.h"
#include "hostile/run.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

const size_t kMostOfQuotas = (HasAddressSanitizer() ? size_t{1500} : size_t{500}) << 20;

// The log stops after 100 errors, and says so.
void ExpectBounded(const std::vector<std::string>& args, const std::vector<Attack>& lines,
                   std::vector<std::string> flags = {}) {
  flags.insert(flags.end(), {"--dir", SourcePath("models") + "::/models"});
  const GuestRun run{.guest = "quotas", .args = args, .flags = flags};
  const CommandResult result = run.Execute();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::string expected;
  for (const Attack& line : lines) expected += line.what + (line.error.empty() ? "" : ": " + line.error) + "\n";
  EXPECT_EQ(result.out, expected);
  EXPECT_LT(result.peak_bytes, kMostOfQuotas);
  const std::vector<std::string> log = GuestLog(result);
  ASSERT_EQ(log.size(), 101u);
  EXPECT_TRUE(HasInOrder(log.back(), {"further errors are not logged"})) << log.back();
  EXPECT_TRUE(HasInOrder(log.front(), lines.front().log)) << log.front();
}

TEST(HostileQuotas, GraphsAreLimited) {
  // The honest graph is one of the 64.
  const std::vector<std::string> logged = {
      "load: too_large: 1 more graphs would exceed the limit of 64 (64 held; limits.max_graphs)"};
  ExpectBounded({"graphs"}, {{"graphs: 63 success 1937 too_large", "", logged}, Honest()});
}

TEST(HostileQuotas, ContextsAreLimited) {
  const std::vector<std::string> logged = {
      "init_execution_context: too_large: 1 more contexts would exceed the limit of 256 (256 held; "
      "limits.max_contexts)"};
  ExpectBounded({"contexts"}, {{"load", "success", logged}, Line("contexts: 255 success 1745 too_large"), Honest()});
}

// Each context of a model with 30,000 inputs takes 3.7 MB, before any of them is set.
TEST(HostileQuotas, ContextsOfAWideModelAreLimited) {
  const TempFolder folder;
  folder.Write("wide.onnx", ManyInputs(30'000));
  const std::vector<std::string> logged = {"init_execution_context: too_large: ",
                                           "more bytes of tensors would exceed the limit of 134217728"};
  ExpectBounded({"contexts", "/made/wide.onnx", "200"},
                {{"load", "success", logged}, Line("contexts: 18 success 182 too_large"), Honest()},
                {"--nn-max-bytes", "128M", "--nn-timeout", "0", "--dir", folder.path().string() + "::/made"});
}

TEST(HostileQuotas, AFailedCallUsesUpNoQuota) {
  const std::vector<std::string> logged = {"load: invalid_encoding: onnx: "};
  ExpectBounded({"failures"}, {{"broken models: 2000 invalid_encoding", "", logged},
                               Line("unknown names: 2000 not_found"),
                               Line("dead graphs: 2000 invalid_argument"),
                               Line("graphs: 63 success 1937 too_large"),
                               Honest()});
}

}  // namespace
}  // namespace wasinn::testing
