// The example agent: a model calls a tool, and the sandbox runs it.
#include "llm_run.h"
#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

class LlmAgent : public ::testing::Test {
 protected:
  CommandResult Ask(const std::vector<std::string>& args) const {
    return RunGuest(LlmFlags({"--model", "lm=" + InSources("tests/models/caller/caller.gguf"), "--dir",
                              folder_.path().string() + "::/weather"}),
                    "agent", args);
  }

  const TestFolder folder_;
};

TEST_F(LlmAgent, CallsItsTool) {
  folder_.Write("Oslo", "snow");
  folder_.Write("Rome", "sun");
  const CommandResult result = Ask({"How", "is the weather?"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, AnyOf(HasSubstr(R"(weather({"place":"Oslo"}))"), HasSubstr(R"(weather({"place":"Rome"}))")));
  EXPECT_EQ(result.out.back(), '\n');
}

TEST_F(LlmAgent, HasTheFilesOfItsFolderAlone) {
  const CommandResult none = Ask({"How is the weather?"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("/weather has no files"));
  const CommandResult other = Ask({"-folder", "/etc", "How is the weather?"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("agent: open /etc"));
}

TEST_F(LlmAgent, SaysWhatFails) {
  folder_.Write("Oslo", "snow");
  const CommandResult model = Ask({"-model", "gpt", "How is the weather?"});
  EXPECT_EQ(model.exit_code, 1);
  EXPECT_THAT(model.err, HasSubstr("load_by_name"));
  EXPECT_EQ(Ask({}).exit_code, 2);
}

}  // namespace
}  // namespace wasinn::testing
