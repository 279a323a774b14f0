// Components, a program for each language, over all held-out digits: the same bytes as ONNX Runtime called directly.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>

#include "backends/onnx_writer.h"
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

// What the model's name means is the host's to say: the program is the same, and so are its bytes.
class ComponentsComposedTest : public ComponentsTest {
 protected:
  // A host with these settings, in whose folder is negative.onnx: y = -x.
  void ExpectDigitsWith(const std::string& settings) {
    if (!Built(GetParam())) GTEST_SKIP() << "its tools were not there to build it: see docs/components.md";
    const TempFolder folder;
    using namespace test;  // NOLINT(google-build-using-namespace): a writer's words
    std::ofstream(folder.path() / "negative.onnx") << ModelOf({.nodes = {Node("Neg", {"x"}, {"y"})},
                                                               .inputs = {Value("x", kFloat, {kUnknown, 1, 8, 8})},
                                                               .outputs = {Value("y", kFloat, {kUnknown, 1, 8, 8})}});
    const std::string file = (folder.path() / "host.toml").string();
    std::ofstream(file) << settings;
    ExpectSameDigits({"--config", file, "--nn-load", "deny"}, "classify-" + GetParam() + ".component");
  }
  static constexpr char kPipeline[] =
      "[models.network]\npath = '" CONFORMANCE_SOURCE
      "/models/digits.onnx'\n"
      "[models.negative]\npath = 'negative.onnx'\n[models.digits]\nstep = [\n"
      " { model_name = 'negative', input_map = { x = 'image' }, output_map = { y = 'negative' } },\n"
      " { model_name = 'negative', input_map = { x = 'negative' }, output_map = { y = 'again' } },\n"
      " { model_name = 'network', input_map = { image = 'again' } }]\n";
  // Each inference waits for others, which do not come.
  static constexpr char kBatching[] =
      "[models.digits.batching]\nmax_batch_size = 8\nmax_queue_delay_microseconds = 200\n";
};

TEST_P(ComponentsComposedTest, Pipeline) { ExpectDigitsWith(kPipeline); }

TEST_P(ComponentsComposedTest, Batched) {
  ExpectDigitsWith("[models.digits]\npath = '" + std::string(kDigitsModel) + "'\n" + kBatching);
}

TEST_P(ComponentsComposedTest, BatchedPipeline) { ExpectDigitsWith(std::string(kPipeline) + kBatching); }

INSTANTIATE_TEST_SUITE_P(, ComponentsComposedTest, ::testing::Values("c", "rust"),
                         [](const auto& language) { return language.param; });

INSTANTIATE_TEST_SUITE_P(, ComponentsTest, ::testing::Values("c", "rust", "python", "javascript"),
                         [](const auto& language) { return language.param; });

}  // namespace
}  // namespace wasinn::testing
