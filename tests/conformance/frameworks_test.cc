// One guest program on every framework: the digits in each format, and all frameworks in one OS process.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "digits.h"
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

std::string PathOf(const Format& format) { return std::string(CONFORMANCE_SOURCE "/models/") + format.model; }

// Those whose frameworks this build has.
std::vector<Format> Formats() {
  const std::string built = CONFORMANCE_FRAMEWORKS;
  std::vector<Format> formats;
  std::ranges::copy_if(kFormats, std::back_inserter(formats), [&](const Format& format) {
    return built.find(" " + std::string(format.framework) + " ") != std::string::npos;
  });
  return formats;
}

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

}  // namespace
}  // namespace wasinn::testing
