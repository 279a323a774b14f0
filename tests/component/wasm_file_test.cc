// Telling modules, components and text apart.
#include "engines/wasm_file.h"

#include "engines/not_served.h"
#include "engines/wasm_sections.h"
#include "support/test.h"

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

std::string Wasm(const std::string& text) {
  const Result<std::string> wasm = ParseText(text, {});
  EXPECT_TRUE(wasm) << text;
  return wasm.value_or("");
}

TEST(WasmSections, AStartSectionBecomesAnExport) {
  for (const char* exports : {"", R"((export "f" (func $f)) (memory (export "memory") 1))"}) {
    const std::string module = std::string(R"((module (import "a" "b" (func)) (func $f) )") + exports;
    const std::string data = R"( (data "some \00\08 data")))";
    const std::optional<std::string> program = StartAsExport(Wasm(module + "(start $f)" + data));
    EXPECT_EQ(program, Wasm(module + R"((export "_start" (func $f)))" + data)) << exports;
  }
}

TEST(WasmSections, ModulesWithoutAProgramInTheirStartSection) {
  for (const char* text : {"(module)", "(module (func $f))", R"((module (func $f (export "_start"))))",
                           R"((module (func $f (export "_start")) (start $f)))",
                           R"((module (func $f (export "_initialize")) (start $f)))", "(component)"}) {
    EXPECT_EQ(StartAsExport(Wasm(text)), std::nullopt) << text;
  }
}

// Every beginning of a module, and every byte of it changed: an answer, whatever it is.
TEST(WasmSections, BytesThatAreNotWellFormed) {
  const std::string module = Wasm(R"((module (import "wasi_snapshot_preview1" "sock_open" (func (param i32)))
    (import "a" "t" (table 1 2 funcref)) (import "a" "m" (memory 1 2)) (import "a" "g" (global i32))
    (func $f) (export "f" (func $f)) (start $f)))");
  ASSERT_EQ(ImportsOf(module).size(), 4u);
  for (size_t i = 0; i < module.size(); ++i) {
    StartAsExport(module.substr(0, i));
    ImportsOf(std::string_view(module).substr(0, i));
    for (int value = 0; value < 256; ++value) {
      std::string changed = module;
      changed[i] = static_cast<char>(value);
      StartAsExport(changed);
      ImportsOf(changed);
    }
  }
}

TEST(WasmSections, Imports) {
  const std::string module = Wasm(R"((module (import "a" "t" (table 1 2 funcref)) (import "a" "m" (memory 1))
    (import "a" "g" (global (mut i32))) (import "b" "f" (func (param i32)))))");
  const std::vector<Import> imports = ImportsOf(module);
  ASSERT_EQ(imports.size(), 4u);
  EXPECT_EQ(imports[3].module, "b");
  EXPECT_EQ(imports[3].name, "f");
  const std::string component = Wasm(R"((component (import "f" (func)) (import "t" (type (sub resource)))
    (type $c (component)) (import "c" (component (type $c))) (core type $m (module)) (import "m" (core module (type $m)))
    (import "wasi:http/types@0.2.0" (instance))))");
  std::vector<std::string> names;
  for (const Import& import : ImportsOf(component)) names.emplace_back(import.module);
  EXPECT_EQ(names, (std::vector<std::string>{"f", "t", "c", "m", "wasi:http/types@0.2.0"}));
}

TEST(WasmSections, ExportsOfAComponent) {
  const std::string component = Wasm(R"((component (import "f" (func $f)) (export "g" (func $f) (func))
    (core module $m) (export "m" (core module $m))
    (instance $i (export "f" (func $f))) (export "wasi:cli/run@0.3.0" (instance $i))))");
  EXPECT_EQ(ExportsOfComponent(component), (std::vector<std::string_view>{"g", "m", "wasi:cli/run@0.3.0"}));
  for (const bool serves_http : {false, true}) {
    const auto why = FirstNotServed(component, {.http = serves_http});
    ASSERT_TRUE(why.has_value());
    EXPECT_NE(why->find("exports `wasi:cli/run@0.3.0`: it is built for WASI 0.3"), std::string::npos) << *why;
    EXPECT_FALSE(FirstNotServed(component, {.http = serves_http, .wasi03 = true}).has_value());
  }
  EXPECT_TRUE(ExportsOfComponent(Wasm("(module (func (export \"f\")))")).empty());
}

TEST(WasmSections, AnImportOfAsynchronousNnNeedsTheSameEngine) {
  const auto with = [](const char* version) {
    return Wasm(std::string(R"((component (import "wasi:nn/tensor@)") + version + R"(" (instance))))");
  };
  EXPECT_TRUE(UsesWasi03(with("0.3.0-draft")));
  EXPECT_FALSE(UsesWasi03(with("0.2.0-rc-2024-10-28")));
}

TEST(WasmSections, ImportsThatNoEngineServes) {
  EXPECT_NE(NotServed({"wasi_snapshot_preview1", "sock_open"}).find("WasmEdge's sockets"), std::string::npos);
  EXPECT_NE(NotServed({"wasi:http/outgoing-handler@0.2.3", ""}).find("HTTP of WASI"), std::string::npos);
  EXPECT_EQ(NotServed({"wasi:nn/graph", ""}),
            "it imports `wasi:nn/graph` without a version, as before 0.2.0-rc: served are the versions "
            "0.2.0-rc-2024-06-25, 0.2.0-rc-2024-08-19, 0.2.0-rc-2024-10-28, 0.3.0-draft");
  EXPECT_NE(NotServed({"wasi:nn/tensor@0.2.0-rc-2099-01-01", ""}).find("served are the versions"), std::string::npos);
  EXPECT_NE(NotServed({"wasi:nn/tensor@0.3.0-draft", ""}).find("it is built for WASI 0.3"), std::string::npos);
  EXPECT_EQ(NotServed({"wasi:nn/tensor@0.3.0-draft", ""}, {.wasi03 = true}), "");
  EXPECT_NE(NotServed({"wasi:nn/tensor@0.3.0", ""}, {.wasi03 = true}).find("served are the versions"),
            std::string::npos);
  EXPECT_NE(NotServed({"wasi:cli/stdout@0.3.0", ""}).find("it is built for WASI 0.3"), std::string::npos);
  EXPECT_EQ(NotServed({"wasi:cli/stdout@0.3.1", ""}, {.wasi03 = true}), "");
  EXPECT_NE(NotServed({"wasi:http/client@0.3.0", ""}, {.wasi03 = true}).find("HTTP of WASI"), std::string::npos);
  EXPECT_EQ(NotServed({"wasi:http/client@0.3.0", ""}, {.http = true, .wasi03 = true}), "");
  EXPECT_NE(NotServed({"wasi:http/client@0.3.0-rc-2025-09-16", ""}, {.http = true, .wasi03 = true}).find("candidate"),
            std::string::npos);
  for (const Import& import : {Import{"wasi_snapshot_preview1", "sock_accept"},
                               {"wasi:nn/graph@0.2.0-rc-2024-10-28", ""},
                               {"wasi:nn/errors@0.2.0-rc-2024-08-19", ""},
                               {"wasi:nn/inference@0.2.0-rc-2024-06-25", ""},
                               {"wasi_snapshot_preview1", "fd_read"},
                               {"wasi:cli/run@0.2.0", ""},
                               {"wasi:sockets/tcp@0.2.0", ""},
                               {"wasi_ephemeral_nn", "load"}}) {
    EXPECT_EQ(NotServed(import), "") << import.module;
  }
}

}  // namespace
}  // namespace wasinn::engines
