// Components, a program for each language, over all held-out digits: the same bytes as ONNX Runtime called directly.
#include "digits.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

// Those whose guests the build has.
std::vector<std::string> Languages() {
  std::vector<std::string> languages = {"c", "rust", "python", "javascript"};
  std::erase_if(languages,
                [](const std::string& language) { return !HasGuest("classify-" + language + ".component"); });
  return languages;
}

class ComponentsTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ComponentsTest, Digits) {
  ExpectSameDigits({"--model", std::string("digits=") + kDigitsModel, "--nn-load", "deny"},
                   "classify-" + GetParam() + ".component");
}

INSTANTIATE_TEST_SUITE_P(, ComponentsTest, ::testing::ValuesIn(Languages()),
                         [](const auto& language) { return language.param; });

}  // namespace
}  // namespace wasinn::testing
