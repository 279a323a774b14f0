// WasmEdge's typical programs, by its numbers: image classification from bytes on each framework, and what it added.
#include <gtest/gtest.h>

#include <fstream>

#include "formats.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

class WasmEdgeTest : public ::testing::TestWithParam<Format> {};

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

TEST_P(WasmEdgeTest, Programs) {
  const Format& format = GetParam();
  const TempFolder folder;
  HeldOut two = ReadHeldOut();
  two.images.resize(2);
  two.labels.resize(2);
  const Bytes inputs = InputsOf(format, two);
  std::ofstream(folder.path() / "images", std::ios::binary)
      .write(reinterpret_cast<const char*>(inputs.data()), static_cast<std::streamsize>(inputs.size()));
  const Bytes expected = RunReference(format, folder.path() / "images", folder.path());
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

INSTANTIATE_TEST_SUITE_P(, WasmEdgeTest, ::testing::ValuesIn(ThisEnginesPart(FormatsWithBytes())),
                         [](const auto& format) { return format.param.name; });

}  // namespace
}  // namespace wasinn::testing
