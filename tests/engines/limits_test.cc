// Guests that end because the host wants it, and that get no more than they may, on each engine, with the echo backend.
#include <unistd.h>

#include "engines/engine.h"
#include "engines/guest_model.h"
#include "engines/memories.h"
#include "engines/wasm_file.h"
#include "support/echo.h"
#include "support/gate.h"

namespace wasinn::testing {
namespace {

using engines::Exit;
using engines::RunOptions;

constexpr char kMemory[] = "(memory (export \"memory\") 1)";
constexpr char kEndless[] = "(loop $endless (br $endless))";

// A module that imports proc_exit, has something, and does something.
std::string Program(const std::string& has, const std::string& does) {
  return "(module (import \"wasi_snapshot_preview1\" \"proc_exit\" (func $exit (param i32))) " + has +
         "(func (export \"_start\") (local $n i32) " + does + "))";
}

// One whose first thread spawns another; each does something.
std::string WithThread(const std::string& first, const std::string& other, const std::string& more = "") {
  return R"((module
    (import "env" "memory" (memory 1 4 shared)) (export "memory" (memory 0))
    (import "wasi" "thread-spawn" (func $spawn (param i32) (result i32)))
    )" + more +
         R"(
    (func (export "wasi_thread_start") (param i32 i32) (memory.atomic.notify (i32.const 0) (i32.const 1)) (drop) )" +
         other + R"()
    (func (export "_start") (drop (call $spawn (i32.const 0))) )" +
         first + R"()))";
}

// Until one does not work, and no more than 100 times; exits with how many did.
std::string Count(const std::string& step) {
  return "(loop $next (if " + step + " (then (local.set $n (i32.add (local.get $n) (i32.const 1)))" +
         "(br_if $next (i32.lt_u (local.get $n) (i32.const 100)))))) (call $exit (local.get $n))";
}
const std::string kGrow = Count("(i32.ne (memory.grow (i32.const 1)) (i32.const -1))");

class EngineLimitsTest : public ::testing::TestWithParam<const char*> {
 protected:
  static bool OnWamr() { return std::string_view(GetParam()) == "wamr"; }

  static std::unique_ptr<engines::Program> Load(const std::string& text) {
    const engines::EngineOptions options{.cache = false, .interruptible = true, .warn = {}};
    const auto engine = OnWamr() ? engines::NewWamrEngine(options) : engines::NewWasmtimeEngine(options);
    if (!engine) {
      ADD_FAILURE() << engine.error();
      return nullptr;
    }
    const std::string path = ::testing::TempDir() + "limits_test." + std::to_string(getpid()) + ".wat";
    std::ofstream(path) << text;
    auto program = (*engine)->Load(path);
    std::remove(path.c_str());
    EXPECT_TRUE(program.has_value()) << program.error();
    return program ? std::move(*program) : nullptr;
  }

  Exit Run(const std::string& text, RunOptions options, uint32_t timeout_ms = 0) {
    const auto program = Load(text);
    if (program == nullptr) return {};
    const GuestPtr guest = NewGuest(host_.get(), &wasinn_limits::run_timeout_ms, timeout_ms);
    options.args = {"guest"};
    options.guest = guest.get();
    return program->Run(options);
  }

  void ExpectTimeout(const std::string& text) {
    const Exit exit = Run(text, {}, 100);
    EXPECT_EQ(exit.kind, Exit::Kind::kInterrupted) << text;
    EXPECT_EQ(exit.code, 124);
    EXPECT_NE(exit.message.find("limits.run_timeout_ms"), std::string::npos) << exit.message;
  }

  void ExpectRefused(const std::string& text, const RunOptions& options, const std::string& why) {
    const Exit exit = Run(text, options);
    EXPECT_EQ(exit.kind, Exit::Kind::kFailed) << text;
    EXPECT_NE(exit.message.find(why), std::string::npos) << exit.message;
  }

  Log log_;
  const HostPtr host_ = EchoHost(log_, "limits.compute_timeout_ms = 0\n");
};

TEST_P(EngineLimitsTest, EndlessLoopsEndAtTheDeadline) {
  ExpectTimeout(Program(kMemory, kEndless));
  ExpectTimeout(Program(std::string(kMemory) + "(func $again (call $also)) (func $also (drop (i32.const 1)))",
                        "(loop $endless (call $again) (br $endless))"));
  ExpectTimeout("(module (memory (export \"memory\") 1) (func $f " + std::string(kEndless) + ") (start $f))");
}

// WAMR runs a start function before it returns the instance; the command then ends itself (tests/cli/ends_test.py).
TEST_P(EngineLimitsTest, AStartFunctionEndsAtTheDeadline) {
  if (OnWamr()) return;
  ExpectTimeout(Program(std::string(kMemory) + "(func $f " + kEndless + ") (start $f)", ""));
}

TEST_P(EngineLimitsTest, EndlessThreadsEndAtTheDeadline) {
  const std::string wait = "(drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1)))";
  ExpectTimeout(WithThread(kEndless, kEndless));
  ExpectTimeout(WithThread(kEndless, ""));
  if (OnWamr()) return;  // it waits for one that waits, a second or more
  ExpectTimeout(WithThread("(loop $endless " + wait + " (br $endless))", kEndless));
}

// One thread computes, and another is in a loop.
TEST_P(EngineLimitsTest, ALoopBesideAComputeEndsAtTheDeadline) {
  AddEchoModel(host_.get(), "endless", "in x f32 1\ndelay 100000000\n");
  ExpectTimeout(WithThread(
      R"((memory.init $name (i32.const 100) (i32.const 0) (i32.const 7))
         (drop (call $load (i32.const 100) (i32.const 7) (i32.const 200)))
         (drop (call $init (i32.load (i32.const 200)) (i32.const 204)))
         (i32.store (i32.const 300) (i32.const 320)) (i32.store (i32.const 304) (i32.const 1)) (i32.store (i32.const 320) (i32.const 1))
         (i32.store8 (i32.const 308) (i32.const 1))
         (i32.store (i32.const 312) (i32.const 324)) (i32.store (i32.const 316) (i32.const 4))
         (if (call $set (i32.load (i32.const 204)) (i32.const 0) (i32.const 300)) (then unreachable))
         (drop (call $compute (i32.load (i32.const 204)))) )" +
          std::string(kEndless),
      kEndless,
      R"((import "wasi_ephemeral_nn" "load_by_name" (func $load (param i32 i32 i32) (result i32)))
         (import "wasi_ephemeral_nn" "init_execution_context" (func $init (param i32 i32) (result i32)))
         (import "wasi_ephemeral_nn" "set_input" (func $set (param i32 i32 i32) (result i32)))
         (import "wasi_ephemeral_nn" "compute" (func $compute (param i32) (result i32)))
         (data $name "endless"))"));  // passive: each thread's instance would write an active one
}

TEST_P(EngineLimitsTest, StoppingAGuestEndsItsRun) {
  const auto program = Load(Program(kMemory, kEndless));
  ASSERT_NE(program, nullptr);
  const GuestPtr guest = NewGuest(host_.get());
  Exit exit;
  std::thread running([&] { exit = program->Run({.args = {"guest"}, .guest = guest.get()}); });
  wasinn_guest_stop(guest.get());  // before it begins, or while it runs
  running.join();
  EXPECT_NE(exit.kind, Exit::Kind::kExited);
}

// An interrupt of one guest does not affect another one on the same engine.
TEST_P(EngineLimitsTest, AnotherGuestGoesOn) {
  const auto program = Load(Program(kMemory,
                                    "(loop $l (local.set $n (i32.add (local.get $n) (i32.const 1))) (br_if $l "
                                    "(i32.lt_u (local.get $n) (i32.const 30000000)))) (call $exit (i32.const 7))"));
  ASSERT_NE(program, nullptr);
  const GuestPtr other = NewGuest(host_.get());
  Exit exit;
  std::thread beside([&] { exit = program->Run({.args = {"guest"}, .guest = other.get()}); });
  const GuestPtr guest = NewGuest(host_.get(), &wasinn_limits::run_timeout_ms, uint32_t{1});
  (void)program->Run({.args = {"guest"}, .guest = guest.get()});
  beside.join();
  EXPECT_EQ(exit.kind, Exit::Kind::kExited) << exit.message;
  EXPECT_EQ(exit.code, 7);
}

TEST_P(EngineLimitsTest, MemoryGrowsToItsLimit) {
  RunOptions options{.max_memory_bytes = 10 << 16};
  EXPECT_EQ(Run(Program(kMemory, kGrow), options).code, 9);
  EXPECT_EQ(Run(Program("(memory (export \"memory\") 1 5)", kGrow), options).code, 4) << "its own maximum";
  options.max_memory_bytes += 65535;
  EXPECT_EQ(Run(Program(kMemory, kGrow), options).code, 9) << "whole pages";
}

TEST_P(EngineLimitsTest, AMemoryThatBeginsTooLarge) {
  ExpectRefused(Program("(memory (export \"memory\") 3)", ""), {.max_memory_bytes = 2 << 16},
                "over the limit of 131072 (limits.max_memory_bytes)");
  ExpectRefused(WithThread("", ""), {.max_memory_bytes = 60000}, "begins with a memory of 65536 bytes");
}

// No engine asks its host when a shared memory grows.
TEST_P(EngineLimitsTest, ASharedMemoryThatMayGrowTooLarge) {
  const std::string why = "may grow to its maximum of 262144 bytes, over the limit";
  ExpectRefused(WithThread("", ""), {.max_memory_bytes = 3 << 16}, why);
  EXPECT_EQ(Run(WithThread("", ""), {.max_memory_bytes = 4 << 16}).message, "");
  ExpectRefused(Program("(memory (export \"memory\") 1 4 shared)", ""), {.max_memory_bytes = 3 << 16}, why);
}

// Each thread has a heap of its own.
TEST_P(EngineLimitsTest, ObjectsOfThreadsShareALimit) {
  if (OnWamr()) return;  // it collects no garbage
  const std::string text =
      WithThread("(drop (array.new_default $bytes (i32.const 2000000)))", "", "(type $bytes (array (mut i8)))");
  EXPECT_EQ(Run(text, {.max_threads = 3, .max_memory_bytes = 64 << 20}).message, "");
  ExpectRefused(text, {.max_threads = 3, .max_memory_bytes = 4 << 20}, "GC heap out of memory");
}

TEST_P(EngineLimitsTest, MemoriesShareALimit) {
  if (OnWamr()) return;  // it has no second memory
  RunOptions options{.max_memory_bytes = 10 << 16};
  EXPECT_EQ(Run(Program(std::string(kMemory) + "(memory 1)", kGrow), options).code, 4);
  ExpectRefused(Program(std::string(kMemory) + "(memory 6)", ""), options, "327680 for each of 2 memories");
}

TEST_P(EngineLimitsTest, TablesGrowToTheirLimit) {
  const std::string has = std::string(kMemory) + "(table $t 2 funcref)";
  const std::string grow = Count("(i32.ne (table.grow $t (ref.null func) (i32.const 1)) (i32.const -1))");
  if (OnWamr()) return ExpectRefused(Program(has, grow), {.max_table_elements = 10}, "WAMR has no limit for tables");
  EXPECT_EQ(Run(Program(has, grow), {.max_table_elements = 10}).code, 8);
  ExpectRefused(Program(has, grow), {.max_table_elements = 1}, "exceeds table limits");
}

TEST_P(EngineLimitsTest, TablesAreWithinTheLimitOfMemory) {
  const RunOptions options{.max_memory_bytes = 1 << 20};
  const std::string at_once = std::string(kMemory) + "(table 10 funcref) (table 200000 funcref)";
  if (OnWamr()) return ExpectRefused(Program(at_once, ""), options, "tables may have");
  ExpectRefused(Program(at_once, ""), options, "exceeds table limits");
  for (const char* type : {"funcref", "externref"}) {
    const std::string grow =
        std::string("(drop (table.grow $t (ref.null ") + (type[0] == 'f' ? "func" : "extern") + ") (i32.const %)))";
    const std::string has = std::string(kMemory) + "(table $t 2 " + type + ")";
    const auto ends_with = [&](const char* elements) {
      std::string text = grow;
      text.replace(text.find('%'), 1, elements);
      text = "(if (i32.eq (i32.const -1) " + text.substr(6, text.size() - 7) + ") (then unreachable))";
      return Run(Program(has, text), options).kind;
    };
    EXPECT_EQ(ends_with("10000"), Exit::Kind::kExited) << type;
    EXPECT_EQ(ends_with("20000"), Exit::Kind::kTrapped) << type;
  }
}

// A guest could wait there for ever, and nothing would end it.
TEST(ServedProgramsTest, HaveNoSharedMemory) {
  const std::string module = Program("(memory (export \"memory\") 1 1 shared)", "");
  const std::string component = "(component (core module (memory 1 1 shared)))";
  const std::string path = ::testing::TempDir() + "served_test." + std::to_string(getpid());
  const auto file_of = [&path](const std::string& bytes) -> const std::string& {
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  };
  engines::EngineOptions options{.cache = false, .allow_precompiled = true, .interruptible = true, .warn = {}};
  const auto compiling = engines::NewWasmtimeEngine(options);
  ASSERT_TRUE(compiling.has_value()) << compiling.error();
  const auto compiled = (*compiling)->Compile(file_of(module));
  ASSERT_TRUE(compiled.has_value()) << compiled.error();
  options.served = true;
  const auto engine = engines::NewWasmtimeEngine(options);
  ASSERT_TRUE(engine.has_value()) << engine.error();
  for (const std::string& bytes : {module, component, *compiled}) {
    const auto program = (*engine)->Load(file_of(bytes));
    ASSERT_FALSE(program.has_value());
    EXPECT_NE(program.error().find("or a shared memory"), std::string::npos) << program.error();
  }
  if (const auto models = engines::NewWasmtimeModelEngine(options)) {  // else this Wasmtime has no components
    const auto model = (*models)->Load(file_of(component));
    ASSERT_FALSE(model.has_value());
    EXPECT_NE(model.error().find("or a shared memory"), std::string::npos) << model.error();
  }
  std::remove(path.c_str());
}

TEST(MemoriesTest, OfModulesAndComponents) {
  const auto of = [](const std::string& text) {
    const auto wasm = engines::ParseText(text, {});
    EXPECT_TRUE(wasm.has_value()) << wasm.error();
    return engines::MemoriesOf(wasm.value_or(""));
  };
  EXPECT_TRUE(of("(module)").empty());
  const auto two = of("(module (import \"a\" \"f\" (func)) (import \"a\" \"m\" (memory 1 2 shared)) (memory 3))");
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].min, 65536u);
  EXPECT_EQ(two[0].max, 131072u);
  EXPECT_TRUE(two[0].shared);
  EXPECT_EQ(two[1].min, 3u * 65536);
  EXPECT_EQ(two[1].max, UINT64_MAX);
  EXPECT_EQ(of("(component (core module (memory 1)) (component (core module (memory 2) (memory 3)) (core module "
               "(import \"a\" \"m\" (memory 1)))))")
                .size(),
            3u);
  EXPECT_EQ(of("(module (memory i64 0xffffffffffff))")[0].min, UINT64_MAX - 65535);
}

TEST(MemoriesTest, BytesThatAreCutOffOrNoneSayNothing) {
  const auto whole = engines::ParseText(
      "(component (core module (import \"a\" \"m\" (memory 1)) (memory 1 2)) (component (core module (memory 2))))",
      {});
  ASSERT_TRUE(whole.has_value());
  for (size_t size = 0; size < whole->size(); ++size) {
    EXPECT_LE(engines::MemoriesOf(std::string_view(*whole).substr(0, size)).size(), 2u);
    std::string changed = *whole;
    changed[size] = '\xff';
    (void)engines::MemoriesOf(changed);
  }
}

TEST(MemoriesTest, MoreThanAnyEngineTakesAreOverEveryLimit) {
  std::string wasm("\0asm\1\0\0\0", 8);
  constexpr size_t kCount = 100'000, kBody = 3 + 2 * kCount;
  const auto number = [&wasm](size_t value) {
    for (int part = 0; part < 3; ++part)
      wasm += static_cast<char>((value >> (7 * part) & 0x7f) | (part < 2 ? 0x80 : 0));
  };
  wasm += '\5';
  number(kBody);
  number(kCount);
  wasm.append(2 * kCount, '\0');
  const std::vector<engines::MemoryType> memories = engines::MemoriesOf(wasm);
  EXPECT_EQ(memories.size(), 20'001u);
  EXPECT_FALSE(engines::ShareOfMemory(memories, uint64_t{1} << 40));
  EXPECT_FALSE(engines::CheckNoneIsShared(memories));
}

std::vector<const char*> Engines() {
#if ENGINES_WAMR
  return {"wasmtime", "wamr"};
#else
  return {"wasmtime"};
#endif
}
INSTANTIATE_TEST_SUITE_P(Engines, EngineLimitsTest, ::testing::ValuesIn(Engines()),
                         [](const auto& engine) { return std::string(engine.param); });

}  // namespace
}  // namespace wasinn::testing
