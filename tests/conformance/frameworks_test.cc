// One guest program on every framework: the digits in each format, and all frameworks in one OS process.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "digits.h"
#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

struct Format {
  const char* framework;
  const char* model;
  float rounding = 1e-4f;
};
// OpenVINO computes in bf16 where the CPU can.
constexpr Format kFormats[] = {{"openvino", "digits.xml", 0.03f},
                               {"tflite", "digits.tflite"},
                               {"torch", "digits.pt"},
                               {"tensorflow", "digits.pb"},
                               {"tensorflow", "digits_saved_model"}};

std::string PathOf(const Format& format) { return InSources("models/") + format.model; }

std::vector<Format> Formats() { return Built(kFormats, &Format::framework); }

class FrameworksTest : public ::testing::TestWithParam<Format> {};

TEST_P(FrameworksTest, TheSameDigits) { ExpectCloseDigits(PathOf(GetParam()), "classify", GetParam().rounding); }

INSTANTIATE_TEST_SUITE_P(Frameworks, FrameworksTest, ::testing::ValuesIn(Formats()), [](const auto& format) {
  std::string name = format.param.model;
  std::ranges::replace_if(name, [](char c) { return c == '.' || c == '_'; }, 'X');
  return name;
});

// All of them beside ONNX Runtime in one process, from one guest, in one order and the other.
TEST(AllFrameworks, InOneProcess) {
  std::vector<Format> formats = Formats();
  formats.push_back({"onnx", "digits.onnx"});
  const Bytes pixels = Floats(std::vector<float>(64, 0.5f));
  const TempFolder folder;
  for (int order = 0; order < 2; ++order) {
    std::vector<std::string> flags;
    Script script;
    for (size_t i = 0; i < formats.size(); ++i) {
      const std::string number = std::to_string(i);
      flags.insert(flags.end(), {"--model", "m" + number + "=" + PathOf(formats[i])});
      script.Do("name " + number + " m" + number).Do("context " + number + " " + number);
    }
    for (int round = 0; round < 2; ++round) {
      for (size_t i = 0; i < formats.size(); ++i) {
        const std::string number = std::to_string(i);
        script.Do(Script::Set("set " + number + " 0 1 1,1,8,8", pixels)).Do("compute " + number);
        script.Do("get " + number + " 0");
      }
    }
    const auto answers = script.Run(flags, folder.path());
    ASSERT_FALSE(answers.empty());
    EXPECT_EQ(answers.back().bytes.size(), 10 * sizeof(float));
    std::ranges::reverse(formats);
  }
}

// More contexts than may compute at once share what a framework computes with: each has its own results.
TEST(AllFrameworks, ContextsThatShareMixNothingUp) {
  constexpr int kContexts = 4;
  std::vector<Format> formats = Formats();
  formats.push_back({"onnx", "digits.onnx"});
  const TempFolder folder;
  const std::string one = folder.path() / "one.toml";
  std::ofstream(one) << "max_computes = 1\n";
  for (const Format& format : formats) {
    const auto outputs = [&](std::vector<std::string> flags) {
      Script script;
      script.Do("name 0 m");
      for (int i = 0; i < kContexts; ++i) script.Do("context " + std::to_string(i) + " 0");
      for (int round = 1; round < 3; ++round) {
        for (int i = 0; i < kContexts; ++i) {
          const Bytes pixels = Floats(std::vector<float>(64, 0.1f * static_cast<float>(i * round)));
          script.Do(Script::Set("set " + std::to_string(i) + " 0 1 1,1,8,8", pixels));
        }
        for (int i = kContexts; i-- > 0;) script.Do("compute " + std::to_string(i));
        for (int i = 0; i < kContexts; ++i) script.Do("get " + std::to_string(i) + " 0");
      }
      flags.insert(flags.end(), {"--model", "m=" + PathOf(format)});
      std::vector<Bytes> all;
      for (const Script::Answer& answer : script.Run(flags, folder.path())) all.push_back(answer.bytes);
      return all;
    };
    const std::vector<Bytes> shared = outputs({"--config", one});
    EXPECT_EQ(shared, outputs({})) << format.model;
    EXPECT_NE(shared.back(), shared[shared.size() - 2]) << format.model;
  }
}

// What one context assigns to a variable, another one of the same model does not read.
TEST(AllFrameworks, StateBelongsToOneContext) {
  if (!Has("tensorflow")) GTEST_SKIP() << "without TensorFlow";
  const TempFolder folder;
  const std::string counter = "counter=" + InSources("tests/models/tensorflow/counter");
  const auto swap = [](const std::string& context, const std::vector<float>& next) {
    return Script::Set("set " + context + " 0 1 2", Floats(next));
  };
  Script script;
  for (const char* number : {"0", "1"}) {
    script.Do(std::string("name ") + number + " counter").Do(std::string("context ") + number + " " + number);
  }
  script.Do(swap("0", {1, 2})).Do("compute 0").Gives("get 0 0", Floats({0, 0}));
  script.Do(swap("1", {3, 4})).Do("compute 1").Gives("get 1 0", Floats({0, 0}));
  script.Do("compute 0").Gives("get 0 0", Floats({1, 2}));
  script.Do("finalize 0").Do("context 2 0");
  script.Do(swap("2", {5, 6})).Do("compute 2").Gives("get 2 0", Floats({0, 0}));
  script.Run({"--model", counter}, folder.path());
}

// A guest of another runtime calls the only input of a TorchScript model as it likes, and no other framework's.
TEST(AllFrameworks, TheOnlyInputOfTorchScriptByAnyName) {
  if (!Has("torch")) GTEST_SKIP() << "without PyTorch";
  const TempFolder folder;
  const Bytes pixels = Floats(std::vector<float>(64, 0.5f));
  Script script;
  script.Do("name 0 torch").Do("context 0 0").Do("name 1 onnx").Do("context 1 1");
  script.Do(Script::Set("setname 0 whatever 1 1,1,8,8", pixels)).Do("compute 0").Do("get 0 0");
  script.Fails(Script::Set("setname 1 whatever 1 1,1,8,8", pixels), WASI_NN_INVALID_ARGUMENT);
  script.Run(
      {"--model", "torch=" + InSources("models/digits.pt"), "--model", "onnx=" + InSources("models/digits.onnx")},
      folder.path());
}

}  // namespace
}  // namespace wasinn::testing
