// All frameworks in one OS process, from one guest.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formats.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

constexpr int kContexts = 4, kRounds = 2;

// An image of f32; each context and round has another one.
Bytes Pixels(int context, int round) {
  return Floats(std::vector<float>(64, 0.1f * static_cast<float>(context * 2 + round + 1)));
}

// The context of a format with this number: those from kContexts on compute alone.
std::string ContextOf(size_t format, int number) {
  return std::to_string(format * 2 * kContexts + static_cast<size_t>(number));
}

void Set(Script* script, const std::string& context, const Bytes& pixels) {
  script->Do(Script::Set("set " + context + " 0 1 1,1,8,8", pixels));
}

// More contexts than may compute at once share what a framework computes with: each has its own results. The frameworks
// are opened in this order.
void ExpectOwnResults(const std::vector<Format>& formats) {
  const TempFolder folder;
  std::vector<std::string> flags = {"--config", folder.Write("one.toml", "max_computes = 1\n")};
  Script script;
  for (size_t i = 0; i < formats.size(); ++i) {
    flags.insert(flags.end(), {"--model", "m" + std::to_string(i) + "=" + formats[i].path()});
    script.Do("name " + std::to_string(i) + " m" + std::to_string(i));
    for (int n = 0; n < 2 * kContexts; ++n) script.Do("context " + ContextOf(i, n) + " " + std::to_string(i));
  }
  size_t steps = formats.size() * (1 + 2 * kContexts);
  std::vector<size_t> together, alone;  // the steps that give the outputs
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < formats.size(); ++i) {
      for (int n = 0; n < kContexts; ++n) Set(&script, ContextOf(i, n), Pixels(n, round));
      for (int n = kContexts; n-- > 0;) script.Do("compute " + ContextOf(i, n));
      for (int n = 0; n < kContexts; ++n) script.Do("get " + ContextOf(i, n) + " 0");
      steps += 3 * kContexts;
      for (int n = 0; n < kContexts; ++n) together.push_back(steps - kContexts + static_cast<size_t>(n));
      for (int n = 0; n < kContexts; ++n) {
        Set(&script, ContextOf(i, kContexts + n), Pixels(n, round));
        script.Do("compute " + ContextOf(i, kContexts + n)).Do("get " + ContextOf(i, kContexts + n) + " 0");
        steps += 3;
        alone.push_back(steps - 1);
      }
    }
  }
  const auto answers = script.Run(flags, folder.path());
  for (size_t i = 0; i < together.size(); ++i) {
    EXPECT_EQ(answers.at(together[i]).bytes, answers.at(alone[i]).bytes)
        << formats[i / kContexts % formats.size()].name;
  }
  EXPECT_NE(answers.at(together[0]).bytes, answers.at(together[1]).bytes);
}

TEST(AllFrameworks, ContextsInOneProcessHaveTheirOwnResults) {
  std::vector<Format> formats = BuiltFormats();
  std::erase_if(formats, [](const Format& format) { return std::string_view(format.type) != "f32"; });
  ExpectOwnResults(formats);
  std::ranges::reverse(formats);
  ExpectOwnResults(formats);
}

}  // namespace
}  // namespace wasinn::testing
