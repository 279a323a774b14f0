// Components, a program for each language, over all held-out digits: the same bytes as ONNX Runtime called directly.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "digits.h"

namespace wasinn::testing {
namespace {

// `language` is one of those that were built, each between two blanks.
bool Built(const std::string& language) {
  return std::string_view(CONFORMANCE_COMPONENTS).find(" " + language + " ") != std::string_view::npos;
}

class ComponentsTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ComponentsTest, Digits) {
  if (!Built(GetParam())) GTEST_SKIP() << "its tools were not there to build it: see docs/components.md";
  ExpectSameDigits({"--model", std::string("digits=") + kDigitsModel, "--nn-load", "deny"},
                   "classify-" + GetParam() + ".component");
}

INSTANTIATE_TEST_SUITE_P(, ComponentsTest, ::testing::Values("c", "rust", "python", "javascript"),
                         [](const auto& language) { return language.param; });

}  // namespace
}  // namespace wasinn::testing
