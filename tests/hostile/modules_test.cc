// Modules whose memory is unusual. tests/cli has programs that are none.
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
  const TestFolder folder;
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

}  // namespace
}  // namespace wasinn::testing
