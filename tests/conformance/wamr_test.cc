// WAMR's typical programs, over its first module and over the standard's; and guests that lie in its layouts.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "formats.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

using Values = std::vector<double>;

Values UpTo(size_t n) {
  Values values(n);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

// One line for each output.
std::string Text(const std::vector<Values>& outputs) {
  std::ostringstream text;
  for (const Values& output : outputs) {
    for (const double value : output) text << value << " ";
    text << "\n";
  }
  return text.str();
}

class WamrTest : public ::testing::TestWithParam<const char*> {
 protected:
  // By WAMR's numbers; the module wasi_nn has them anyhow.
  static std::string Run(const std::string& dims, const std::string& model,
                         const std::vector<std::string>& more = {"1"},
                         const std::string& folder = InSources("tests/models/tflite")) {
    std::vector<std::string> args = {dims, "/models/" + model + ".tflite"};
    args.insert(args.end(), more.begin(), more.end());
    const CommandResult run = RunGuest(
        {"--dialect", "wamr", "--dir", folder + "::/models", "--dir", InSources("tests/models/digits") + "::/digits"},
        GetParam(), args);
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    return run.out;
  }
};

TEST_P(WamrTest, Sum) {
  const Values x = UpTo(25);
  EXPECT_EQ(Run("1,5,5,1", "sum"), Text({{std::accumulate(x.begin(), x.end(), 0.0)}}));
}

TEST_P(WamrTest, SeveralOutputs) {
  Values columns(4), means(4);
  for (size_t i = 0; i < 16; ++i) {
    columns[i % 4] += static_cast<double>(i);
    means[i % 4] += static_cast<double>(i) / 4;
  }
  EXPECT_EQ(Run("1,4,4,1", "mult_outputs", {"2"}), Text({columns, means}));
}

// Its values go as the bytes that they are.
TEST_P(WamrTest, Quantized) {
  const std::vector<Format> formats = BuiltFormats();
  const auto int8 = std::ranges::find(formats, std::string("TfLiteInt8"), &Format::name);
  ASSERT_NE(int8, formats.end());
  const TempFolder folder;
  const HeldOut held_out = ReadHeldOut();
  folder.Write("digits_int8.tflite", ReadFile(int8->path()));
  const Bytes expected = RunReference(*int8, folder.Write("inputs", held_out.images.at(3)), folder.path());
  EXPECT_EQ(CountRight(*int8, expected, {held_out.labels.at(3)}), 1u);
  EXPECT_EQ(Run("1,1,8,8", "digits_int8", {"1", "/models/inputs"}, folder.path()),
            Text({Values(expected.begin(), expected.end())}));
}

INSTANTIATE_TEST_SUITE_P(, WamrTest, ::testing::Values("wamr_programs-module", "wamr_programs-standard"),
                         [](const auto& guest) { return std::string(guest.param).substr(14); });

constexpr char kHostile[] =
    R"(load of a record at 0 in memory: 1
load of a record that ends outside: 1
load of a record outside: 1
load of a record at the last address: 1
load to outside: 1
load of no parts: 1
load of 2^32-1 parts: 7
load of 2^29 parts, whose size wraps: 7
load of parts outside: 1
load of a part outside: 1
load of a part that ends outside: 1
load of a part of 2^32-1 bytes: 1
load of encoding 7: 2
load for target 4: 1
load_by_name of a name outside: 1
load_by_name of 2^32-1 bytes: 1
load_by_name: 0
a context to outside: 1
a context: 0
tensor at the end: 1
tensor at the last address: 1
shape at the end: 1
shape of rank 2^32-1: 1
shape of rank 2^30, whose size wraps: 1
shape of rank 0: 1
dimensions outside: 1
data at the end: 1
data at the last address: 1
type 4: 1
type 2^32-1: 1
more bytes than 32 bits can say: 1
more bytes than 64 bits can say: 1
input 1: 1
input 2^32-1: 1
compute without an input: 1
an honest input: 0
an honest compute: 0
size outside: 1
buffer outside: 1
output 1: 1
a buffer of 2^32-1 floats: 1
a buffer of 2^30 floats, whose size wraps: 1
a buffer that ends outside: 1
a buffer of nothing: 7
it needs 1, and has 0
an honest buffer: 0
the sum of 1 float: 300
)";

TEST(WamrHostile, PointersAndCounts) {
  const CommandResult run = RunGuest({"--model", "sum=" + InSources("tests/models/tflite/sum.tflite"), "--dir",
                                      InSources("tests/models/tflite") + "::/models"},
                                     "wamr_hostile", {"/models/sum.tflite"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, kHostile) << run.err;
}

}  // namespace
}  // namespace wasinn::testing
