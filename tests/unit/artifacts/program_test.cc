// Programs of others: what they print, how they fail, and that they end.
#include "artifacts/program.h"
#include "support/test.h"

namespace wasinn::artifacts {
namespace {

Result<std::string> RunShell(const std::string& script, ProgramRun run = {}) {
  run.command = {FindProgram("sh"), "-c", script};
  if (run.timeout.count() == 0) run.timeout = kPatience;
  if (run.most_file_bytes == 0) run.most_file_bytes = 1 << 20;
  if (run.most_output_bytes == 0) run.most_output_bytes = 1 << 20;
  return RunProgram(run);
}

std::string ErrorOf(const Result<std::string>& ran) { return ran ? "it ended well: " + *ran : ran.error(); }

TEST(Program, IsOnlyFoundInAbsoluteFolders) {
  const std::string path = std::getenv("PATH");
  EXPECT_TRUE(std::filesystem::path(FindProgram("sh")).is_absolute());
  EXPECT_EQ(FindProgram("wasinn-nobody-has-this"), "");
  for (const char* folders : {"", ".", ":", "bin:./bin"}) {
    setenv("PATH", folders, 1);
    EXPECT_EQ(FindProgram("sh"), "") << folders;
  }
  setenv("PATH", path.c_str(), 1);
}

TEST(Program, PrintsAndReadsNothing) {
  EXPECT_EQ(RunShell("echo out; echo err >&2; cat"), "out\n");
  EXPECT_EQ(RunShell("pwd", {.folder = "/"}), "/\n");
}

TEST(Program, AnErrorHasTheReason) {
  EXPECT_THAT(ErrorOf(RunShell("echo first >&2; echo last >&2; exit 1")), HasSubstr("sh: last"));
  EXPECT_THAT(ErrorOf(RunShell(R"(echo 'time="x" level=fatal msg="no \"m\" here"' >&2; exit 1)")),
              HasSubstr("sh: no \"m\" here"));
  EXPECT_THAT(ErrorOf(RunShell("exit 3")), HasSubstr("exit code 3"));
  EXPECT_THAT(ErrorOf(RunShell("kill -9 $$")), HasSubstr("signal 9 ended it"));
  EXPECT_THAT(ErrorOf(RunProgram(
                  {.command = {"/nonexistent"}, .timeout = kPatience, .most_file_bytes = 1, .most_output_bytes = 1})),
              HasSubstr("it cannot be started"));
}

TEST(Program, HasLimits) {
  EXPECT_THAT(ErrorOf(RunShell("cat /dev/zero", {.most_output_bytes = 1000})),
              HasSubstr("it printed more than 1000 bytes"));
  EXPECT_FALSE(RunShell("head -c 2000 /dev/zero > f", {.folder = ::testing::TempDir(), .most_file_bytes = 1000}));
  // The error has the last words of many.
  EXPECT_THAT(ErrorOf(RunShell("head -c 1000000 /dev/zero >&2; echo >&2; echo last >&2; exit 1")),
              HasSubstr("sh: last"));
}

TEST(Program, IsOverInTime) {
  EXPECT_THAT(ErrorOf(RunShell("exec tail -f /dev/null", {.timeout = std::chrono::milliseconds(100)})),
              HasSubstr("it was not done within 0.1 s"));
}

}  // namespace
}  // namespace wasinn::artifacts
