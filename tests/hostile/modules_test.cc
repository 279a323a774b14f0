// Programs that are none, modules that miss what a guest needs, and models that are not there.
#include <gtest/gtest.h>

#include "hostile/run.h"

namespace wasinn::testing {
namespace {

void ExpectRefused(const GuestRun& run, const std::vector<std::string>& words) {
  const CommandResult result = run.Execute();
  EXPECT_EQ(result.exit_code, OnWasmEdge() ? 1 : 125) << result.err;
  if (OnWasmEdge()) {  // which says what it has to say on stdout
    EXPECT_TRUE(HasInOrder(result.err + result.out, words)) << result.err << result.out;
    EXPECT_LE(Lines(result.err).size(), 1u) << result.err;
    return;
  }
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(HasInOrder(result.err, words)) << result.err << "should have: " << ::testing::PrintToString(words);
  EXPECT_EQ(Lines(result.err).size(), 1u) << result.err;
}

TEST(HostileModules, ThatAreNoModules) {
  const TempFolder folder;
  const struct {
    const char* name;
    std::string bytes;
    const char* why;
  } files[] = {{"empty", "", "is not a WebAssembly module"},
               {"text.wasm", "neither fish nor fowl", "is not a WebAssembly module"},
               {"elf",
                "\x7f"
                "ELF\2\1\1",
                "is not a WebAssembly module"},
               {"magic", std::string("\0asm", 4), "is not a WebAssembly module"},
               {"version2", std::string("\0asm\2\0\0\0", 8), "unknown version"},
               {"component", std::string("\0asm\x0d\0\1\0", 8), "component"},
               {"broken.wat", "(module (func (export \"_start\") (i32.const)))", "expected a i32"},
               {"blanks.wat", " \n\t (((((", "expected"},
               {"nothing.wat", "(module)", "_start"},
               {"garbage", std::string("\0asm\1\0\0\0", 8) + std::string(100, '\xff'),
                OnWamr() ? "invalid section id" : "malformed"}};
  for (const auto& file : files) {
    ExpectRefused({.guest = folder.Write(file.name, file.bytes)}, {"wasinn: error: ", file.name, file.why});
  }
  ExpectRefused({.guest = folder.path().string()}, {"wasinn: error: ", "is a folder"});
  ExpectRefused({.guest = folder.path().string() + "/missing.wasm"}, {"missing.wasm", "No such file"});
  ExpectRefused({.guest = "/dev/null"}, {"/dev/null", "is not a WebAssembly module"});
}

TEST(HostileModules, ThatAreCutOff) {
  const TempFolder folder;
  const std::string good = ReadFile(GuestPath("names"));
  for (const size_t size : {size_t{1}, size_t{7}, size_t{9}, size_t{20}, size_t{100}, size_t{1000}, good.size() / 2,
                            good.size() - 100, good.size() - 1}) {
    const std::string path = folder.Write("cut.wasm", good.substr(0, size));
    std::vector<std::string> flags;
    if (!OnWamr()) flags.emplace_back("--no-cache");  // WAMR keeps no compiled code, and says so
    ExpectRefused({.guest = path, .flags = flags}, {"wasinn: error: ", "cut.wasm"});
  }
}

// 5,000 brackets would be 5,000 calls of a parser that does not count them.
TEST(HostileModules, ThatAreNestedDeeply) {
  const TempFolder folder;
  std::string text = "(module (func (export \"_start\") ";
  for (int i = 0; i < 100'000; ++i) text += "(block ";
  ExpectRefused({.guest = folder.Write("deep.wat", text)}, {"wasinn: error: ", "deep.wat"});
}

TEST(HostileModules, ThatImportWhatIsNotThere) {
  const TempFolder folder;
  const auto importing = [&folder](const std::string& import) {
    return folder.Write("import.wat",
                        "(module (import " + import + ") (memory (export \"memory\") 1) (func (export \"_start\")))");
  };
  ExpectRefused({.guest = importing("\"wasi_ephemeral_nn\" \"unknown\" (func)")}, {"wasi_ephemeral_nn", "unknown"});
  ExpectRefused({.guest = importing("\"wasi_nn_1\" \"load\" (func (param i32 i32 i32 i32) (result i32))")},
                {"wasi_nn_1"});
  ExpectRefused({.guest = importing("\"wasi_ephemeral_nn\" \"compute\" (func (param i64) (result i32))")},
                {"wasi_ephemeral_nn", "compute"});
  ExpectRefused({.guest = importing("\"wasi_ephemeral_nn\" \"compute\" (global i32)")}, {"wasi_ephemeral_nn"});
}

// WAMR takes no program without one: what it imports of WASI would have nothing to work on.
const std::vector<std::string> kNoMemoryOnWamr = {"wasinn: error: ", "must export memory"};

// A module that asks for "digits" with an unusual memory, and traps unless the errno is `expected`.
std::string WithMemory(const std::string& memory, int expected) {
  return "(module (import \"wasi_ephemeral_nn\" \"load_by_name\" (func $load (param i32 i32 i32) (result i32)))" +
         memory +
         "(func (export \"_start\") (if (i32.ne (call $load (i32.const 0) (i32.const 6) (i32.const 8)) (i32.const " +
         std::to_string(expected) + ")) (then unreachable))))";
}

TEST(HostileModules, WithUnusualMemories) {
  const TempFolder folder;
  const std::string digits = "(data (i32.const 0) \"digits\")";
  constexpr int kSuccess = 0, kInvalidArgument = 1, kMissingMemory = 3, kNotFound = 8;
  const struct {
    const char* what;
    std::string memory;
    int expected;
    const char* log;
  } cases[] = {
      {"usual", "(memory (export \"memory\") 1)" + digits, kSuccess, ""},
      {"none", "", kMissingMemory, "the guest module exports no memory"},
      {"not exported", "(memory 1)" + digits, kMissingMemory, "the guest module exports no memory"},
      {"under another name", "(memory (export \"mem\") 1)" + digits, kMissingMemory, "exports no memory"},
      {"a function", "(func (export \"memory\"))", kMissingMemory, "exports no memory"},
      {"a table", "(table (export \"memory\") 1 funcref)", kMissingMemory, "exports no memory"},
      {"a global", "(global (export \"memory\") i32 (i32.const 0))", kMissingMemory, "exports no memory"},
      {"empty", "(memory (export \"memory\") 0)", kInvalidArgument, "is outside of the guest's memory"},
      {"empty for ever", "(memory (export \"memory\") 0 0)", kInvalidArgument, "is outside of the guest's memory"},
      {"shared", "(memory (export \"memory\") 1 65536 shared)" + digits, kSuccess, ""},
      {"without the name", "(memory (export \"memory\") 1)", kNotFound, "'\\x00\\x00\\x00\\x00\\x00\\x00'"},
      {"64 bits", "(memory (export \"memory\") i64 1) (data (i64.const 0) \"digits\")", kSuccess, ""},
  };
  for (const auto& memory : cases) {
    const std::string path = folder.Write("memory.wat", WithMemory(memory.memory, memory.expected));
    if (OnWamr() && memory.expected == kMissingMemory) {
      ExpectRefused({.guest = path}, kNoMemoryOnWamr);
      continue;
    }
    if ((OnWamr() || OnWasmEdge()) && memory.memory.find("i64") != std::string::npos) {
      ExpectRefused({.guest = path}, {OnWamr() ? "invalid limits flags" : "integer too large"});
      continue;
    }
    const CommandResult result = GuestRun{.guest = path}.Execute();
    EXPECT_EQ(result.exit_code, 0) << memory.what << ": " << result.err;
    const std::vector<std::string> log = GuestLog(result);
    if (*memory.log == '\0') {
      EXPECT_EQ(result.err, "") << memory.what;
    } else {
      ASSERT_EQ(log.size(), 1u) << memory.what << ": " << result.err;
      EXPECT_TRUE(HasInOrder(log[0], {"load_by_name: ", memory.log})) << memory.what << ": " << log[0];
    }
  }
}

TEST(HostileModules, WithoutMemoryCanCallEverything) {
  const GuestRun run{.guest = SourcePath("tests/hostile/guests/no_memory.wat")};
  if (OnWamr()) return ExpectRefused(run, kNoMemoryOnWamr);
  const CommandResult result = run.Execute();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(GuestLog(result).size(), 6u) << result.err;
}

// The functions are there as soon as the first instruction of a module, and a trap before _start is a trap.
TEST(HostileModules, ThatCallBeforeTheyStart) {
  const TempFolder folder;
  const std::string text =
      "(module (import \"wasi_ephemeral_nn\" \"compute\" (func $compute (param i32) (result i32)))"
      "(memory (export \"memory\") 1) (func $early (drop (call $compute (i32.const 1))) unreachable) (start $early)"
      "(func (export \"_start\")))";
  const CommandResult result = GuestRun{.guest = folder.Write("early.wat", text)}.Execute();
  EXPECT_EQ(result.exit_code, OnWasmEdge() ? 1 : 134) << result.err;
  const std::string said = OnWasmEdge() ? result.err + result.out : result.err;
  EXPECT_TRUE(HasInOrder(said, {"compute: invalid_argument", "error", "unreachable"})) << said;
}

TEST(HostileModules, ModelsThatAreNotThere) {
  const TempFolder folder;
  const auto with = [](const std::string& model) { return GuestRun{.guest = "names", .flags = {"--model", model}}; };
  ExpectRefused(with("m=/nonexistent/model.onnx"), {"wasinn: error: ", "/nonexistent/model.onnx", "does not exist"});
  ExpectRefused(with("m=" + folder.path().string()), {"wasinn: error: ", folder.path().string(), "holds no model"});
  ExpectRefused(with("m=/dev/null/x"), {"wasinn: error: ", "/dev/null/x"});
  ExpectRefused({.guest = "names", .flags = {"--models", "/nonexistent"}}, {"wasinn: error: ", "/nonexistent"});
}

// A model is read when a guest first names it: then it is the guest who learns that it is no model.
TEST(HostileModules, ModelsThatAreNoModels) {
  const TempFolder folder;
  const struct {
    const char* path;
    std::string bytes;
    const char* error;
    std::vector<std::string> log;
  } files[] = {{"empty.onnx", "", "invalid_encoding", {"model 'm:1'", "not an ONNX model"}},
               {"text.onnx", "neither fish nor fowl", "invalid_encoding", {"model 'm:1'", "not an ONNX model"}},
               {"text.model", "neither fish nor fowl", "invalid_encoding", {"model 'm:1'", "recognises"}},
               {"gguf.onnx", "GGUF\3", "invalid_encoding", {"model 'm:1'", "encoding ggml, not onnx"}}};
  for (const auto& file : files) {
    const std::string model = "m=" + folder.Write(file.path, file.bytes);
    const GuestRun run{.guest = "load_named", .args = {"m"}, .flags = {"--model", model}};
    const std::vector<Attack> attacks = {{"m", file.error, file.log}, Honest()};
    ExpectAttacks(run.Execute(), attacks);
  }
  const GuestRun device{.guest = "load_named", .args = {"m"}, .flags = {"--model", "m=/dev/zero"}};
  const std::vector<Attack> refused = {{"m", "invalid_argument", {"model 'm:1'", "'/dev/zero' is not a file"}},
                                       Honest()};
  ExpectAttacks(device.Execute(), refused);
}

}  // namespace
}  // namespace wasinn::testing
