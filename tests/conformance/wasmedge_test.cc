// WasmEdge's typical program, by its numbers: image classification from bytes, and what WasmEdge added. matrix_test.cc
// has its form on each framework.
#include <gtest/gtest.h>

#include "formats.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

// What the guest shall print; FIRST and SECOND stand for the outputs of the two images.
constexpr char kExpected[] = R"(load: 0
init_execution_context: 0
set_input: 0
compute: 0
FIRST
get_output: 0
set_input: 0
set_input again: 0
compute: 0
SECOND
get_output: 0
unload: 0
unload again: 1
init_execution_context after unload: 1
compute after unload: 0
SECOND
get_output after unload: 0
finalize_execution_context: 0
finalize_execution_context again: 1
set_input after finalize: 1
compute after finalize: 1
get_output after finalize: 1
load_by_name of no model: 8
load_by_name_with_config of no model: 8
load_by_name_with_config of no configuration: 1
load_by_name_with_config of an unknown key: 1
load_by_name_with_config: 0
init_execution_context: 0
set_input: 0
compute: 0
FIRST
get_output: 0
)";

std::string Expected(const Bytes& first, const Bytes& second) {
  std::string text;
  for (const std::string& line : Lines(kExpected)) {
    text += line == "FIRST" ? ToHex(first) : line == "SECOND" ? ToHex(second) : line;
    text += "\n";
  }
  return text;
}

TEST(WasmEdgeTest, ClassifiesImages) {
  const Format format = BuiltFormats().front();
  const TempFolder folder;
  HeldOut two = ReadHeldOut();
  two.images.resize(2);
  two.labels.resize(2);
  const Bytes expected = RunReference(format, folder.Write("images", InputsOf(format, two)), folder.path());
  ASSERT_EQ(CountRight(format, expected, two.labels), 2u);
  const auto half = expected.begin() + static_cast<ptrdiff_t>(expected.size() / 2);

  const std::string files = format.guest_files();
  const CommandResult run =
      RunGuest({"--dialect", "wasmedge", "--model", "digits=" + format.path(), "--dir",
                InSources("models") + "::/models", "--dir", folder.path().string() + "::/files"},
               "wasmedge_programs", {format.type, std::to_string(format.encoding), files, "/files/images", "{}"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, Expected({expected.begin(), half}, {half, expected.end()})) << run.err;
}

}  // namespace
}  // namespace wasinn::testing
