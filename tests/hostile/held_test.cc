// Under a limit of 80 MB no guest makes the command hold much more than that, nor fills its log.
#include "backends/openvino_writer.h"
#include "hostile/made_models.h"
#include "hostile/run.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

constexpr size_t kMebi = size_t{1} << 20;

struct Outcome {
  std::vector<std::string> lines;  // but for those that each guest prints
  std::vector<std::string> log;
  size_t mebibytes = 0;  // that the command had, besides the guest's own memory
};

// Runs the guest `held`.
Outcome Run(const std::string& kind) {
  const TestFolder folder;
  if (kind == "outputs") folder.Write("untrue.onnx", UntrueOutput());
  if (kind == "passed_on") folder.Write("passed_on.xml", test::PassedOn(40));
  if (kind == "contexts") folder.Write("wide.onnx", ManyInputs(30'000));
  const GuestRun run{.guest = "held",
                     .args = {kind},
                     .flags = {"--nn-max-bytes", "80M", "--dir", folder.path().string() + "::/made"},
                     .models = {"dynamic", "huge_output"},
                     .settings = "limits.load_timeout_ms = 0\n",
                     .log_all = true};
  const CommandResult result = run.Execute();
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err.substr(0, 4096);
  EXPECT_LT(result.err.size(), kMebi);
  Outcome outcome{.lines = Lines(result.out), .log = GuestLog(result)};
  size_t own = 0;
  if (outcome.lines.size() < 2 || outcome.lines.back() != kHonest ||
      std::sscanf(outcome.lines[outcome.lines.size() - 2].c_str(), "memory: %zu", &own) != 1) {
    ADD_FAILURE() << result.out << result.err.substr(0, 4096);
    return outcome;
  }
  outcome.lines.resize(outcome.lines.size() - 2);
  outcome.mebibytes = result.peak_bytes / kMebi - std::min(own, result.peak_bytes / kMebi);
  return outcome;
}

// The same, which may take so much more than a guest that makes the host hold nothing. A sanitizer keeps what is freed.
Outcome Hold(const std::string& kind, size_t mebibytes = 140) {
  static const Outcome nothing = Run("nothing");
  EXPECT_TRUE(nothing.lines.empty());
  Outcome outcome = Run(kind);
  EXPECT_LT(outcome.mebibytes, nothing.mebibytes + mebibytes + (HasAddressSanitizer() ? 700 : 0));
  std::printf("%zu MiB, and without it %zu\n", outcome.mebibytes, nothing.mebibytes);
  return outcome;
}

void ExpectInLog(const Outcome& outcome, size_t count, const std::vector<std::string>& words) {
  size_t found = 0;
  for (const std::string& line : outcome.log) found += HasInOrder(line, words) ? 1 : 0;
  EXPECT_EQ(found, count) << ::testing::PrintToString(words);
}

TEST(HostileHeld, InputsThatBecomeSmallAreFreed) {
  const Outcome outcome = Hold("inputs");
  std::vector<std::string> expected = {"load: success"};
  for (int i = 0; i < 12; ++i) {
    expected.push_back("large " + std::to_string(i) + ": success");
    expected.push_back("small " + std::to_string(i) + ": success");
  }
  EXPECT_EQ(outcome.lines, expected) << "one at a time is within the limit";
}

TEST(HostileHeld, OutputsThatOutgrowTheirSignatureAreCharged) {
  const Outcome outcome = Hold("outputs");
  std::vector<std::string> expected = {"load: success"};
  for (int i = 0; i < 12; ++i)
    expected.push_back("compute " + std::to_string(i) + (i < 2 ? ": success" : ": too_large"));
  EXPECT_EQ(outcome.lines, expected);
  ExpectInLog(outcome, 10,
              {"compute: too_large: ", "bytes of tensors are more than may still be held (limits.max_tensor_bytes"});
}

// An output of more dimensions than can be shown is not kept.
TEST(HostileHeld, OutputsThatCannotBeShownAreFreed) {
  const Outcome outcome = Hold("hidden_outputs");
  std::vector<std::string> expected = {"load: success"};
  for (int i = 0; i < 12; ++i) expected.push_back("compute " + std::to_string(i) + ": unsupported_operation");
  EXPECT_EQ(outcome.lines, expected);
  ExpectInLog(outcome, 12, {"compute: ", "33 dimensions"});
}

// 320 MiB of copies in each compute.
TEST(HostileHeldOpenVino, OutputsThatAreTheInputAreCharged) {
  if (!Has("openvino")) GTEST_SKIP() << "not built";
  const Outcome outcome = Hold("passed_on");
  std::vector<std::string> expected = {"load: success"};
  for (int i = 0; i < 3; ++i) expected.push_back("compute " + std::to_string(i) + ": too_large");
  EXPECT_EQ(outcome.lines, expected);
  ExpectInLog(outcome, 3, {"compute: too_large: openvino: ", "335544320 bytes: no more than 83886080"});
}

// Each of a model with 30,000 inputs takes 7 MB, before any of them is set.
TEST(HostileHeld, ContextsOfAWideModelAreCharged) {
  const Outcome outcome = Hold("contexts", 500);
  EXPECT_EQ(outcome.lines, (std::vector<std::string>{"load: success", "contexts: 11 of 100"}));
  ExpectInLog(outcome, 89,
              {"init_execution_context: too_large: ", "more bytes of tensors would exceed the limit of 83886080"});
}

}  // namespace
}  // namespace wasinn::testing
