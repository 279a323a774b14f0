// What a language model's guest may get wrong, or do on purpose: each a clear error, after which everything goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "llm_run.h"
#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

Bytes AsBytes(const std::string& text) { return {text.begin(), text.end()}; }

std::string Prompt(const std::string& text) {
  return Script::Set("set 0 0 3 " + std::to_string(text.size()), AsBytes(text));
}
std::string Options(const std::string& json) {
  return Script::Set("set 0 1 3 " + std::to_string(json.size()), AsBytes(json));
}

constexpr char kGreedy[] = R"({"temp":0,"n-predict":4})";
constexpr char kBeginning[] = "GNU General Public";

class LlmHostile : public ::testing::Test {
 protected:
  // What `step` is refused with, in words; the same context works afterwards.
  std::string Refused(Script script, const std::string& step, uint32_t error) const {
    script.Fails(step, error).Do("error");
    Works(&script);
    const auto answers = script.Run(LlmFlags(), folder_.path());
    const auto said = std::ranges::find(answers, error, &Script::Answer::error);
    if (said == answers.end()) return "";
    return {(said + 1)->bytes.begin(), (said + 1)->bytes.end()};
  }

  static Script Started() {
    Script script;
    script.Do("name 0 lm").Do("context 0 0");
    return script;
  }

  static void Works(Script* script) {
    script->Do(Options(kGreedy)).Do(Prompt(kBeginning)).Do("compute 0").Do("get 0 0").Do("get 0 1");
    script->Do("single 0").Do("piece 0 0").Do("fini 0");
  }

  void Write(const std::string& name, const Bytes& bytes) const {
    std::ofstream file(folder_.path() / name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

  const TempFolder folder_;
};

TEST_F(LlmHostile, EmptyPrompt) {
  EXPECT_THAT(Refused(Started().Do(Script::Set("set 0 0 3 0", {})), "compute 0", WASI_NN_INVALID_ARGUMENT),
              HasSubstr("empty"));
  Refused(Started().Do(Script::Set("set 0 0 3 0", {})), "single 0", WASI_NN_INVALID_ARGUMENT);
}

TEST_F(LlmHostile, PromptThatIsTooLong) {
  std::string prompt;
  while (prompt.size() < 4000) prompt += "General Public License ";
  for (const char* step : {"compute 0", "single 0"}) {
    EXPECT_THAT(Refused(Started().Do(Prompt(prompt)), step, WASI_NN_PROMPT_TOO_LONG), HasSubstr("512")) << step;
  }
}

// No second of the host's time for a prompt that cannot fit.
TEST_F(LlmHostile, MegabyteOfOneToken) {
  Script script = Started();
  script.Do(Prompt(std::string(1 << 20, 'e'))).Fails("compute 0", WASI_NN_PROMPT_TOO_LONG);
  script.Do(Prompt(std::string(1 << 20, ' '))).Fails("compute 0", WASI_NN_PROMPT_TOO_LONG);
  Works(&script);
  const auto answers = script.Run(LlmFlags(), folder_.path());
  EXPECT_LT(answers[3].microseconds, 5e6);
  EXPECT_LT(answers[5].microseconds, 5e6);
}

TEST_F(LlmHostile, PromptsThatAreNoUtf8) {
  for (const char* prompt : {"GNU \xff\xfe", "\x80", "\xc3", "\xed\xa0\x80", "\xf8\x88\x80\x80\x80"}) {
    EXPECT_THAT(Refused(Started().Do(Prompt(prompt)), "compute 0", WASI_NN_INVALID_ARGUMENT), HasSubstr("UTF-8"));
  }
}

// A prompt is text, also one that has a NUL in it, and words that control the model.
TEST_F(LlmHostile, PromptsThatAreOdd) {
  Script script = Started();
  script.Do(Options(kGreedy));
  for (const std::string& prompt : {std::string("a\0b", 3), std::string(1, '\0'), std::string("<|endoftext|>"),
                                    std::string("<|im_start|><|im_start|>"), std::string("\xf4\x8f\xbf\xbf")}) {
    script.Do(Prompt(prompt)).Do("compute 0").Do("get 0 0");
  }
  Works(&script);
  script.Run(LlmFlags(), folder_.path());
}

TEST_F(LlmHostile, StepsInAnyOrder) {
  Script script = Started();
  script.Fails("single 0", WASI_NN_INVALID_ARGUMENT).Fails("piece 0 0", WASI_NN_INVALID_ARGUMENT);
  script.Do("fini 0").Do("fini 0").Fails("get 0 0", WASI_NN_INVALID_ARGUMENT);
  script.Do(Options(kGreedy)).Fails("single 0", WASI_NN_INVALID_ARGUMENT).Do(Prompt(kBeginning));
  script.Fails("piece 0 0", WASI_NN_INVALID_ARGUMENT).Do("single 0").Fails("piece 0 10", WASI_NN_INVALID_ARGUMENT);
  script.Do("piece 0 0").Fails("piece 0 0 1", WASI_NN_TOO_LARGE);
  for (int i = 1; i < 4; ++i) script.Do("single 0").Do("piece 0 0");
  script.Fails("single 0", WASI_NN_END_OF_SEQUENCE).Fails("single 0", WASI_NN_END_OF_SEQUENCE).Do("get 0 0");
  script.Do("fini 0").Do("fini 0").Do("single 0").Do(Prompt(kBeginning)).Fails("piece 0 0", WASI_NN_INVALID_ARGUMENT);
  // A compute ends a stream.
  script.Do("single 0").Do("compute 0").Do("get 0 0").Fails("piece 0 0", WASI_NN_INVALID_ARGUMENT).Do("single 0");
  script.Do("finalize 0").Fails("single 0", WASI_NN_INVALID_ARGUMENT).Fails("fini 0", WASI_NN_INVALID_ARGUMENT);
  script.Run(LlmFlags(), folder_.path());
}

TEST_F(LlmHostile, OptionsThatAreWrong) {
  for (const char* options : {"{",
                              "[1]",
                              "\"temp\"",
                              "{\"temp\":}",
                              "\xff",
                              R"({"temp":"hot"})",
                              R"({"temp":-1})",
                              R"({"temp":1e300})",
                              R"({"ctx-size":-1})",
                              R"({"ctx-size":1000000000000000000})",
                              R"({"n-predict":-2})",
                              R"({"n-predict":1e30})",
                              R"({"n-predict":1.5})",
                              R"({"top-k":-7})",
                              R"({"top-p":7})",
                              R"({"threads":-3})",
                              R"({"threads":0})",
                              R"({"batch-size":0})",
                              R"({"batch-size":99999999999})",
                              R"({"ubatch-size":-1})",
                              R"({"seed":1e30})",
                              R"({"repeat-penalty":-1})",
                              R"({"embedding":"yes"})",
                              R"({"lora":"/etc/passwd"})",
                              R"({"reverse-prompt":7})"}) {
    EXPECT_NE(Refused(Started().Do(Prompt(kBeginning)).Do(Options(options)), "compute 0", WASI_NN_INVALID_ARGUMENT), "")
        << options;
  }
}

TEST_F(LlmHostile, ConfigurationThatIsWrong) {
  for (const char* config : {"{", "[1]", R"({"n-gpu-layers":"all"})"}) {
    Script script;
    script.Fails(std::string("config 0 lm ") + config, WASI_NN_INVALID_ARGUMENT).Do("error");
    script.Do("name 0 lm").Do("context 0 0");
    Works(&script);
    EXPECT_FALSE(script.Run(LlmFlags(), folder_.path())[1].bytes.empty()) << config;
  }
  // What is for contexts leaves the model as it is, and the first context says so.
  for (const char* config : {R"({"temp":"hot"})", R"({"ctx-size":-1})", R"({"n-predict":-2})", R"({"grammar":7})"}) {
    Script script;
    script.Do(std::string("config 0 lm ") + config).Fails("context 0 0", WASI_NN_INVALID_ARGUMENT).Do("error");
    script.Do("name 0 lm").Do("context 0 0");
    Works(&script);
    EXPECT_FALSE(script.Run(LlmFlags(), folder_.path())[2].bytes.empty()) << config;
  }
}

TEST_F(LlmHostile, GrammarsThatDoNotParse) {
  for (const char* grammar :
       {"root ::= (", "nothing", "root ::= other", "root ::= \\\"a", "\\u0000", "root ::= root", "root ::= [a-z",
        "root ::= \\\"a\\\"{99999999999,}", "root ::= \\\"a\\\"{99999999999999999999999}",
        "root ::= ((\\\"a\\\"{2000}){2000}){2000}"}) {
    const std::string options = std::string(R"({"grammar":")") + grammar + "\"}";
    EXPECT_NE(Refused(Started().Do(Prompt(kBeginning)).Do(Options(options)), "compute 0", WASI_NN_INVALID_ARGUMENT), "")
        << grammar;
  }
  EXPECT_NE(Refused(Started().Do(Prompt(kBeginning)).Do(Options(R"({"json-schema":"{"})")), "compute 0",
                    WASI_NN_INVALID_ARGUMENT),
            "");
}

// 64 KiB that would become gigabytes, or never end.
TEST_F(LlmHostile, GrammarsThatBecomeLarge) {
  std::string repeated = "root ::=", doubled = "root ::= r0\\n";
  for (int i = 0; i < 3000; ++i) repeated += " [a-z]{0,1999}";
  for (int i = 0; i < 40; ++i) {
    const std::string next = "r" + std::to_string(i + 1);
    doubled += "r" + std::to_string(i) + " ::= " + next + " [a] | " + next + " [b]\\n";
  }
  doubled += "r40 ::= [c]";
  for (const std::string& grammar : {repeated, doubled}) {
    const std::string said = Refused(Started().Do(Prompt(kBeginning)).Do(Options(R"({"grammar":")" + grammar + "\"}")),
                                     "compute 0", WASI_NN_TOO_LARGE);
    EXPECT_THAT(said, HasSubstr("grammar: "));
  }
  for (const char* options :
       {R"({"grammar":"root ::= [a]{5,2}"})",
        R"({"json-schema":{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"$ref":"#/$defs/a"}}}})"}) {
    EXPECT_NE(Refused(Started().Do(Prompt(kBeginning)).Do(Options(options)), "compute 0", WASI_NN_INVALID_ARGUMENT),
              "");
  }
}

// Caches of keys and values are the guest's memory: many contexts together stay within its limit, and give it back.
TEST_F(LlmHostile, ContextsThatKeepMuchMemory) {
  std::ofstream settings(folder_.path() / "wasinn.toml");
  settings << "[limits]\nmax_tensor_bytes = 80000000\n[models.lm]\npath = \"" + InSources("models/tiny.gguf") +
                  "\"\n[models.lm.config]\nctx-size = 65536\nubatch-size = 8\n";
  settings.close();
  Script script;
  script.Do("name 0 lm");
  // 65,536 tokens × 3 layers × 2 × 2 × 32 numbers of 2 bytes are 48 MiB.
  for (int i = 0; i < 16; ++i) {
    const std::string context = std::to_string(i), prompt = Prompt(kBeginning), options = Options(kGreedy);
    script.Do("context " + context + " 0");
    script.Do("set " + context + prompt.substr(5)).Do("set " + context + options.substr(5));
    if (i == 0) {
      script.Do("compute 0");
    } else {
      script.Fails("compute " + context, WASI_NN_TOO_LARGE);
    }
  }
  script.Do("finalize 0").Do("compute 1").Fails("compute 2", WASI_NN_TOO_LARGE);
  script.Run(LlmFlags({"--config", (folder_.path() / "wasinn.toml").string()}), folder_.path());
}

// What they ask for is not served, so there is no answer either.
TEST_F(LlmHostile, KeysOfModelsThatSeeOrSpeak) {
  for (const char* options : {R"({"mmproj":"/etc/passwd"})", R"({"image":"hen.jpg"})", R"({"tts":true})"}) {
    const std::string said =
        Refused(Started().Do(Prompt(kBeginning)).Do(Options(options)), "compute 0", WASI_NN_UNSUPPORTED_OPERATION);
    EXPECT_THAT(said, HasSubstr(std::string(options).substr(2, 3)));
  }
}

// A model out of the guest's own memory.
TEST_F(LlmHostile, BytesOfAModel) {
  std::filesystem::copy_file(InSources("models/tiny.gguf"), folder_.path() / "tiny.gguf");
  for (const char* encoding : {"5", "6"}) {
    Script script;
    script.Do(std::string("load 0 /files/tiny.gguf ") + encoding).Do("context 0 0");
    Works(&script);
    script.Run(LlmFlags({}), folder_.path());
  }
}

TEST_F(LlmHostile, BytesOfABrokenModel) {
  const Bytes good = ReadBytes(InSources("models/tiny.gguf"));
  Script script;
  const auto refused = [&](const std::string& name, const Bytes& bytes) {
    Write(name, bytes);
    script.Fails("load 0 /files/" + name + " 6", WASI_NN_INVALID_ENCODING).Do("error");
  };
  for (const size_t size : {4, 5, 12, 23, 24, 100, 1000, 5000, 20000, 100000}) {
    refused("cut" + std::to_string(size), {good.begin(), good.begin() + static_cast<ptrdiff_t>(size)});
  }
  refused("last", {good.begin(), good.end() - 64});
  refused("junk", AsBytes("GGUF and then nothing that is of it, but long enough to be one's header"));
  // magic, version, number of tensors, number of keys
  for (const auto& [at, number] : {std::pair<size_t, uint64_t>{8, uint64_t{1} << 60},
                                   {16, uint64_t{1} << 60},
                                   {8, ~uint64_t{0}},
                                   {16, ~uint64_t{0}}}) {
    Bytes bytes = good;
    std::memcpy(bytes.data() + at, &number, sizeof(number));
    refused("many" + std::to_string(at) + std::to_string(number % 10), bytes);
  }
  script.Do("name 0 lm").Do("context 0 0");
  Works(&script);
  const auto answers = script.Run(LlmFlags(), folder_.path());
  for (size_t i = 0; i + 10 < answers.size(); i += 2) {
    EXPECT_FALSE(answers[i + 1].bytes.empty()) << i;
    EXPECT_LT(answers[i].microseconds, 2e6) << i;
  }
}

// Single bytes of the header changed: refused or served, but never more.
TEST_F(LlmHostile, BytesThatWereChanged) {
  const Bytes good = ReadBytes(InSources("models/tiny.gguf"));
  std::vector<std::string> names;
  for (size_t at = 4; at < 600; at += 7) {
    Bytes bytes = good;
    bytes[at] ^= 0xff;
    names.push_back("changed" + std::to_string(at));
    Write(names.back(), bytes);
  }
  std::ofstream script(folder_.path() / "script");
  for (const std::string& name : names) script << "load 0 /files/" << name << " 6\n";
  script << "name 0 lm\ncontext 0 0\n" << Options(kGreedy) << "\n" << Prompt(kBeginning) << "\ncompute 0\n";
  script.close();
  const CommandResult result = RunGuest(LlmFlags({"--model", TinyLm(), "--dir", folder_.path().string() + "::/files"}),
                                        "steps", {"/files/script"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<std::string> lines = Lines(result.out);
  ASSERT_EQ(lines.size(), names.size() + 5);
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool honest = i >= names.size();
    const char digit = lines[i][0];
    EXPECT_TRUE(lines[i][1] == ' ' && (digit == '0' || (!honest && digit != '3' && digit != '4'))) << lines[i];
  }
}

// Of models that only read there is no text to be had, whatever a guest says: llama.cpp would abort, or hand over
// numbers that nobody wrote. What they make has as many numbers as there are.
TEST_F(LlmHostile, ModelsThatOnlyRead) {
  const std::string folder = InSources("tests/models/encoder/"), words = "the a b c d e f g h i j k l m n o p q r s";
  for (const auto& [name, numbers] :
       {std::pair<std::string, std::string>{"embedder", "32"}, {"ranker", "1"}, {"classifier", "3"}}) {
    Script script;
    script.Do("config 0 reader {\"embedding\":false,\"ubatch-size\":16}").Do("context 0 0");
    for (const std::string& prompt : {words, std::string("the"), std::string("the a b")}) {
      script.Do(Prompt(prompt)).Fails("compute 0", WASI_NN_UNSUPPORTED_OPERATION);
      script.Fails("single 0", WASI_NN_UNSUPPORTED_OPERATION).Fails("get 0 0", WASI_NN_INVALID_ARGUMENT);
    }
    script.Do(Options(R"({"embedding":true,"ubatch-size":1})")).Do("compute 0").Do("get 0 0");
    const auto answers = script.Run(LlmFlags({"--model", "reader=" + folder + name + ".gguf"}), folder_.path());
    EXPECT_THAT(std::string(answers.back().bytes.begin(), answers.back().bytes.end()),
                HasSubstr("{\"n_embedding\":" + numbers + ","));
  }
}

// A deadline ends a generation in the middle of a compute, and one between two steps harms nothing.
TEST_F(LlmHostile, DeadlineWhileGenerating) {
  std::ofstream settings(folder_.path() / "wasinn.toml");
  settings << "[models.lm]\npath = \"" + InSources("models/tiny.gguf") + "\"\n[models.lm.config]\nctx-size = 100000\n";
  settings.close();
  Script script;
  // A grammar without an end, so that nothing else ends it.
  script.Do("name 0 lm").Do("context 0 0").Do(Options(R"({"grammar":"root ::= [a-z ] root","temp":0})"));
  script.Do(Prompt(kBeginning)).Fails("compute 0", WASI_NN_RUNTIME_ERROR).Do("error");
  script.Do("single 0").Do("piece 0 0").Do("fini 0");
  Works(&script);
  const auto answers = script.Run(
      LlmFlags({"--config", (folder_.path() / "wasinn.toml").string(), "--nn-timeout", "1s"}), folder_.path());
  EXPECT_GT(answers[4].microseconds, 0.9e6);
  EXPECT_LT(answers[4].microseconds, 4e6);
  EXPECT_THAT(std::string(answers[5].bytes.begin(), answers[5].bytes.end()), HasSubstr("was stopped after 1000 ms"));
}

}  // namespace
}  // namespace wasinn::testing
