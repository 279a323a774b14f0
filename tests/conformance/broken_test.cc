// Broken models of each format through the real framework: an answer for each, and the host goes on.
#include <gtest/gtest.h>

#include "formats.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

class BrokenTest : public ::testing::TestWithParam<Format> {};

TEST_P(BrokenTest, EachModelHasAnAnswer) {
  const Format& format = GetParam();
  const TempFolder folder;
  HeldOut one = ReadHeldOut();
  one.images.resize(1);
  const std::string image = folder.Write("image", InputsOf(format, one));
  const Bytes expected = RunReference(format, image, folder.path());
  const CommandResult run =
      RunGuest({"--nn-max-bytes", "256M", "--config", folder.Write("host.toml", "limits.compute_timeout_ms = 2000\n"),
                "--dir", InSources("models") + "::/models", "--dir", folder.path().string() + "::/files"},
               "broken", {format.type, std::to_string(format.encoding), format.guest_files(), "/files/image"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  // What is not XML is no first part of two for OpenVINO: a wrong argument, like parts too many for all.
  const char* unknown = format.files.size() > 1 ? "1" : "2";
  const std::string tried = std::to_string(60 * format.files.size());
  EXPECT_EQ(run.out, std::string("nothing: 2\nnoise: ") + unknown + "\ntext: " + unknown +
                         "\nhalf of it: 2\na part too many: 1\n" + tried +
                         " tried, 0 with an answer that none may have\n" + ToHex(expected) + "\n")
      << run.err;
}

INSTANTIATE_TEST_SUITE_P(, BrokenTest, ::testing::ValuesIn(ThisEnginesPart(FormatsWithBytes())),
                         [](const auto& format) { return format.param.name; });

}  // namespace
}  // namespace wasinn::testing
