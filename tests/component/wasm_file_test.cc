// Telling modules, components and text apart.
#include "engines/wasm_file.h"

#include <gtest/gtest.h>

#include <string>

namespace wasinn::engines {
namespace {

using std::string_literals::operator""s;

TEST(WasmFile, KindByTheFirstBytes) {
  EXPECT_EQ(KindOf("\0asm\1\0\0\0"s), WasmKind::kModule);
  EXPECT_EQ(KindOf("\0asm\1\0\0\0\1\4"s), WasmKind::kModule);
  EXPECT_EQ(KindOf("\0asm\x0d\0\1\0"s), WasmKind::kComponent);
  EXPECT_EQ(KindOf("\0asm\x0e\0\1\0more"s), WasmKind::kComponent) << "of another version: for the engine to refuse";
  EXPECT_EQ(KindOf("(module)"), WasmKind::kText);
  EXPECT_EQ(KindOf(" \n\t(component)"), WasmKind::kText);
  EXPECT_EQ(KindOf(";; a comment"), WasmKind::kText);
  EXPECT_EQ(KindOf("\0asm\2\0\0\0"s), WasmKind::kUnknownVersion);
  EXPECT_EQ(KindOf("\0asm\1\0\2\0"s), WasmKind::kUnknownVersion);
  EXPECT_EQ(KindOf(""), WasmKind::kNotWasm);
  EXPECT_EQ(KindOf("\0asm\x0d\0\1"s), WasmKind::kNotWasm) << "cut off";
  EXPECT_EQ(KindOf("\x7f"
                   "ELF\1\1\1\0"s),
            WasmKind::kNotWasm);
  EXPECT_EQ(KindOf("component"), WasmKind::kNotWasm);
}

}  // namespace
}  // namespace wasinn::engines
