// The values of --nn-preload that a process's arguments have.
#include "plugins/wasmedge/preload.h"
#include "support/test.h"

namespace wasinn::wasmedge_plugin {
namespace {

using Words = std::vector<std::string>;

Words Of(const Words& args, const std::string& last) {
  const auto values = PreloadsOf(args, last);
  return values ? *values : Words{values.error()};
}

void ExpectUnclear(const Words& args, const std::string& last) {
  const auto values = PreloadsOf(args, last);
  ASSERT_FALSE(values) << ::testing::PrintToString(*values);
  EXPECT_NE(values.error().find("WASINN_MODELS"), std::string::npos);
}

TEST(WasmEdgePreload, Several) {
  const Words both = {"a:x", "b:y"};
  EXPECT_EQ(Of({"wasmedge", "--nn-preload", "a:x", "--nn-preload", "b:y", "app.wasm"}, "b:y"), both);
  EXPECT_EQ(Of({"wasmedge", "run", "--nn-preload=a:x", "--nn-preload", "b:y", "app.wasm"}, "b:y"), both);
  EXPECT_EQ(Of({"w", "--dir", ".:.", "--nn-preload", "a:x", "--enable-threads", "--env=A=B", "--env", "C=D",
                "--nn-preload=b:y", "app.wasm"},
               "b:y"),
            both);
}

TEST(WasmEdgePreload, ArgumentsAfterTheModuleAreTheGuests) {
  const Words one = {"a:x"};
  EXPECT_EQ(Of({"wasmedge", "--nn-preload", "a:x", "app.wasm", "--nn-preload", "evil:y"}, "a:x"), one);
  EXPECT_EQ(Of({"wasmedge", "--nn-preload", "a:x", "app.wasm", "--nn-preload=evil:y"}, "a:x"), one);
  EXPECT_EQ(Of({"wasmedge", "--nn-preload", "a:x", "--", "app.wasm", "--nn-preload", "evil:y"}, "a:x"), one);
  EXPECT_EQ(Of({"wasmedge", "--nn-preload", "a:x", "run", "--nn-preload", "evil:y"}, "a:x"), one);
}

// Whatever the arguments are, of a program that is not WasmEdge's: the value that was parsed is known.
TEST(WasmEdgePreload, OneIsTheOne) {
  EXPECT_EQ(Of({}, "a:x"), Words{"a:x"});
  EXPECT_EQ(Of({"program", "file", "--nn-preload", "b:y"}, "a:x"), Words{"a:x"});
}

TEST(WasmEdgePreload, UnclearOnes) {
  // The value of an option that is not known here may be the module.
  ExpectUnclear({"wasmedge", "--unknown", "value", "--nn-preload", "a:x", "--nn-preload", "b:y", "app"}, "b:y");
  ExpectUnclear({"wasmedge", "--nn-preload", "a:x", "--unknown", "value", "--nn-preload", "b:y", "app"}, "b:y");
  // A value that is missing, and one that looks like an option.
  ExpectUnclear({"wasmedge", "--nn-preload", "--nn-preload", "app"}, "app2");
  ExpectUnclear({"wasmedge", "--nn-preload", "--nn-preload"}, "x");
}

}  // namespace
}  // namespace wasinn::wasmedge_plugin
