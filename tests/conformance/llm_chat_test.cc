// The chat guests, in C++ and, where it is built, in Go.
#include <regex>

#include "llm_run.h"
#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

std::vector<std::string> Chats() {
  if (HasGuest("chat-go")) return {"chat", "chat-go"};
  return {"chat"};
}

CommandResult Chat(const std::string& guest, const std::vector<std::string>& args) {
  return RunGuest(LlmFlags(), guest, args);
}

class LlmChat : public ::testing::TestWithParam<std::string> {};

TEST_P(LlmChat, GoesOnWithThePrompt) {
  const CommandResult result = Chat(GetParam(), {"--temp", "0", "--n-predict", "40", "GNU", "General Public"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("GNU General Public License"));
  EXPECT_EQ(result.out.back(), '\n');
  EXPECT_EQ(result.out,
            "GNU General Public" +
                RunLlm({"basic", "lm", R"({"temp":0,"n-predict":40})", "GNU General Public"}).One("output") + "\n");
  EXPECT_TRUE(std::regex_search(
      result.err, std::regex("[0-9]+ tokens in, the first out after [0-9.]+ ms; 40 out, [0-9.]+ tokens/s\n")))
      << result.err;
}

TEST_P(LlmChat, NeedsNoOptions) {
  const CommandResult result = Chat(GetParam(), {"GNU General Public"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("GNU General Public"));
  EXPECT_GT(result.out.size(), 60u);
}

TEST_P(LlmChat, SaysThatItsContextIsFull) {
  const CommandResult result = Chat(GetParam(), {"--temp", "0", "--ctx-size", "256", "GNU General Public"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the context is full"));
  EXPECT_GT(result.out.size(), 300u);
}

TEST_P(LlmChat, SaysWhatFails) {
  const CommandResult missing = Chat(GetParam(), {"--model", "gpt", "Hello"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("chat: model gpt: load_by_name: not_found (8)"));
  const CommandResult longer = Chat(GetParam(), {std::string(100000, 'x')});
  EXPECT_EQ(longer.exit_code, 1);
  EXPECT_THAT(longer.err, HasSubstr("prompt_too_long (102)"));
  const CommandResult grammar = Chat(GetParam(), {"--grammar", "root ::= (", "Hello"});
  EXPECT_EQ(grammar.exit_code, 1);
  EXPECT_THAT(grammar.err, HasSubstr("invalid_argument (1)"));
  EXPECT_EQ(Chat(GetParam(), {"--temp", "hot", "Hello"}).exit_code, 2);
  EXPECT_EQ(Chat(GetParam(), {"--no-such-option", "1", "Hello"}).exit_code, 2);
  EXPECT_EQ(Chat(GetParam(), {"--temp"}).exit_code, 2);
}

INSTANTIATE_TEST_SUITE_P(Languages, LlmChat, ::testing::ValuesIn(Chats()),
                         [](const auto& guest) { return guest.param == "chat" ? "Cpp" : "Go"; });

// Each line a question; the answers are those of one conversation.
TEST(LlmConversation, AnswersEachLineOfItsInput) {
  const GuestCommand command = MakeGuestCommand(LlmFlags(), GuestFile("chat"), {"--temp", "0"});
  Child chat(command.argv, command.environment);
  chat.Say("Who are you?");
  chat.Say("Thank you.");
  const CommandResult result = chat.Wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "I am a tiny language model. I learned a few licences by heart.\nYou are welcome.\n");
}

}  // namespace
}  // namespace wasinn::testing
