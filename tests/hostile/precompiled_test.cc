// Files that are not what `wasinn compile` made, where native code may run: errors, and nothing else. Code that somebody made to
// look right is not among them: nothing distinguishes it from other code, which is why it must be trusted.
#include <unistd.h>
#include <wasmtime.h>

#include "engines/engine.h"
#include "engines/wasmtime/precompiled.h"
#include "support/test.h"

namespace wasinn::testing {
namespace {

using wasmtime::Precompiled;
using wasmtime::ProgramKind;
using wasmtime::ReadPrecompiled;
using wasmtime::WritePrecompiled;

class HostilePrecompiled : public ::testing::Test {
 protected:
  void SetUp() override {
    auto engine = engines::NewWasmtimeEngine({.cache = false, .allow_precompiled = true, .warn = {}});
    ASSERT_TRUE(engine.has_value()) << engine.error();
    engine_ = std::move(*engine);
    Write("(module (memory (export \"memory\") 1 2) (func (export \"_start\")))");
    auto file = engine_->Compile(path_);
    ASSERT_TRUE(file.has_value()) << file.error();
    file_ = *file;
    auto read = ReadPrecompiled(file_);
    ASSERT_TRUE(read.has_value()) << read.error();
    program_ = *read;
  }
  void TearDown() override { std::remove(path_.c_str()); }

  void Write(std::string_view bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  // The error for a file; "" if it loads.
  std::string ErrorOf(std::string_view bytes) const {
    Write(bytes);
    const auto loaded = engine_->Load(path_);
    return loaded ? "" : loaded.error();
  }
  // With Wasmtime's part changed, and all that we add as it should be.
  std::string ErrorOfCode(std::string_view code) const {
    Precompiled changed = program_;
    changed.code = code;
    return ErrorOf(WritePrecompiled(changed));
  }
  std::string Replaced(std::string_view what, std::string_view with) const {
    std::string code(program_.code);
    const size_t at = code.find(what);
    EXPECT_NE(at, code.npos) << what;
    EXPECT_EQ(code.find(what, at + 1), code.npos) << what;
    return code.replace(at, what.size(), with);
  }

  const std::string path_ = ::testing::TempDir() + "precompiled_test." + std::to_string(getpid());
  std::unique_ptr<engines::Engine> engine_;
  std::string file_;
  Precompiled program_;
};

#define EXPECT_SAYS(error, text) EXPECT_NE((error).find(text), std::string::npos) << (error)

TEST_F(HostilePrecompiled, TheFileIsWhatItWas) {
  EXPECT_EQ(ErrorOf(file_), "");
  EXPECT_EQ(ErrorOfCode(program_.code), "");
  EXPECT_EQ(program_.kind, ProgramKind::kModule);
  ASSERT_EQ(program_.memories.size(), 1u);
  EXPECT_EQ(program_.memories[0].min, 65536u);
  EXPECT_EQ(program_.memories[0].max, 131072u);
}

TEST_F(HostilePrecompiled, EachFlippedBitIsFound) {
  std::string flipped = file_;
  for (size_t bit = 0; bit < file_.size() * 8; ++bit) {
    const char right = flipped[bit / 8];
    flipped[bit / 8] = static_cast<char>(right ^ 1 << bit % 8);
    ASSERT_FALSE(ReadPrecompiled(flipped).has_value()) << bit;
    flipped[bit / 8] = right;
  }
  for (size_t byte = 0; byte < file_.size(); byte += 97) {
    flipped[byte] = static_cast<char>(flipped[byte] ^ 0x10);
    EXPECT_NE(ErrorOf(flipped), "") << byte;
    flipped[byte] = static_cast<char>(flipped[byte] ^ 0x10);
  }
}

TEST_F(HostilePrecompiled, EachPartOfAFileIsFound) {
  for (size_t size = 0; size < file_.size(); ++size) {
    ASSERT_FALSE(ReadPrecompiled(std::string_view(file_).substr(0, size)).has_value()) << size;
    ASSERT_FALSE(ReadPrecompiled(std::string_view(file_).substr(size + 1)).has_value()) << size;
    if (size % 97 != 0) continue;
    EXPECT_NE(ErrorOf(std::string_view(file_).substr(0, size)), "") << size;
  }
  EXPECT_NE(ErrorOf(file_ + file_.substr(file_.size() - 1)), "");
}

TEST_F(HostilePrecompiled, FilesOfOthers) {
  EXPECT_SAYS(ErrorOf(program_.code),
              "that `wasinn compile` of this version did not make");  // as Wasmtime's own command writes it
  EXPECT_SAYS(ErrorOfCode(""), "is not a WebAssembly module");
  EXPECT_SAYS(ErrorOfCode(program_.code.substr(0, 8)), "ELF");
  EXPECT_NE(ErrorOfCode(program_.code.substr(0, program_.code.size() / 2)), "");
  std::string linux_program(program_.code);
  linux_program[7] = 0;
  EXPECT_SAYS(ErrorOfCode(linux_program), "is not a WebAssembly module");
}

TEST_F(HostilePrecompiled, CodeForAnotherWasmtimeOrProcessor) {
  const std::string before("\0\2", 2), version(WASMTIME_VERSION, 2);
  EXPECT_SAYS(ErrorOfCode(Replaced(before + version, before + "12")), "incompatible version '12'");
#ifdef __x86_64__
  EXPECT_SAYS(ErrorOfCode(Replaced("has_sse3", "has_sse9")), "incompatible with native host");
#endif
}

TEST_F(HostilePrecompiled, ProgramsThatAreSaidToBeOthers) {
  for (const ProgramKind kind : {ProgramKind::kComponent, ProgramKind::kThreads}) {
    Precompiled other = program_;
    other.kind = kind;
    EXPECT_NE(ErrorOf(WritePrecompiled(other)), "");
  }
  Precompiled other = program_;
  other.interruptible = true;
  EXPECT_SAYS(ErrorOf(WritePrecompiled(other)), "compiled without epoch interruption");
  other.metered = true;
  other.interruptible = false;
  EXPECT_SAYS(ErrorOf(WritePrecompiled(other)), "compiled without fuel support");
}

}  // namespace
}  // namespace wasinn::testing
