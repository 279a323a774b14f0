// Components, a program for each language, over all held-out digits: the same bytes as ONNX Runtime called directly.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "backends/onnx_writer.h"
#include "digits.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

// Those whose guests the build has.
std::vector<std::string> Languages(std::vector<std::string> languages) {
  std::erase_if(languages,
                [](const std::string& language) { return !HasGuest("classify-" + language + ".component"); });
  return languages;
}

class ComponentsTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ComponentsTest, Digits) {
  ExpectSameDigits({"--model", std::string("digits=") + kDigitsModel, "--nn-load", "deny"},
                   "classify-" + GetParam() + ".component");
}

// What the model's name means is the host's to say: the program is the same, and so are its bytes.
class ComponentsComposedTest : public ComponentsTest {
 protected:
  // A host with these settings, in whose folder is negative.onnx: y = -x.
  void ExpectDigitsWith(const std::string& settings) {
    const TempFolder folder;
    using namespace test;  // NOLINT(google-build-using-namespace): a writer's words
    folder.Write("negative.onnx", ModelOf({.nodes = {Node("Neg", {"x"}, {"y"})},
                                           .inputs = {Value("x", kFloat, {kUnknown, 1, 8, 8})},
                                           .outputs = {Value("y", kFloat, {kUnknown, 1, 8, 8})}}));
    const std::string file = folder.Write("host.toml", settings);
    ExpectSameDigits({"--config", file, "--nn-load", "deny"}, "classify-" + GetParam() + ".component");
  }
  const std::string kPipeline =
      "[models.network]\npath = '" + InSources("models/digits.onnx") +
      "'\n"
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

TEST_P(ComponentsComposedTest, BatchedPipeline) { ExpectDigitsWith(kPipeline + kBatching); }

INSTANTIATE_TEST_SUITE_P(, ComponentsComposedTest, ::testing::ValuesIn(Languages({"c", "rust"})),
                         [](const auto& language) { return language.param; });

INSTANTIATE_TEST_SUITE_P(, ComponentsTest, ::testing::ValuesIn(Languages({"c", "rust", "python", "javascript"})),
                         [](const auto& language) { return language.param; });

}  // namespace
}  // namespace wasinn::testing
