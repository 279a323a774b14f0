#include "llm_run.h"

#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {

std::string TinyLm() { return "lm=" + InSources("models/tiny.gguf"); }

std::vector<std::string> LlmAnswer::All(const std::string& name) const {
  std::vector<std::string> texts;
  for (const Line& line : lines) {
    if (line.name == name) texts.push_back(line.text);
  }
  return texts;
}

std::string LlmAnswer::One(const std::string& name) const {
  const std::vector<std::string> texts = All(name);
  EXPECT_EQ(texts.size(), 1u) << name << "\n" << err;
  return texts.empty() ? "" : texts[0];
}

std::vector<std::string> LlmFlags(std::vector<std::string> flags) {
  flags.insert(flags.end(), {"--threads", "1"});
  return flags;
}

LlmAnswer RunLlm(const std::vector<std::string>& args, const std::vector<std::string>& flags) {
  const CommandResult result = RunGuest(LlmFlags(flags), "llm", args);
  LlmAnswer answer;
  answer.err = result.err;
  for (const std::string& text : Lines(result.out)) {
    std::istringstream stream(text);
    LlmAnswer::Line line;
    std::string hex;
    stream >> line.name;
    if (line.name == "error") {
      stream >> line.name >> line.error;
    } else {
      stream >> hex;
      const Bytes bytes = FromHex(hex);
      line.text.assign(bytes.begin(), bytes.end());
    }
    answer.lines.push_back(line);
  }
  EXPECT_FALSE(answer.lines.empty()) << "exit code " << result.exit_code << "\n" << result.err;
  return answer;
}

std::string Question(const std::string& text) {
  return "<|im_start|>user\n" + text + "<|im_end|>\n<|im_start|>assistant\n";
}

}  // namespace wasinn::testing
