// The classify example over all held-out digits: as good as ONNX Runtime called directly, and the same bytes.
#include "digits.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

TEST(DigitsTest, ByName) {
  ExpectSameDigits({"--model", std::string("digits=") + kDigitsModel, "--nn-load", "deny"}, "classify");
}

TEST(DigitsTest, ByBytes) {
  ExpectSameDigits({"--dir", InSources("models") + "::/models"}, "classify", {"--model-file", "/models/digits.onnx"});
}

}  // namespace
}  // namespace wasinn::testing
