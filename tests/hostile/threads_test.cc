// Guests with threads, on the engine that the environment names: nothing is lost, nothing gets mixed, and a guest that
// ends in the middle of anything is gone.
#include "hostile/run.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

CommandResult RunThreads(const std::string& guest, std::vector<std::string> args, std::vector<std::string> flags = {}) {
  flags.insert(flags.end(), {"--nn-timeout", "0", "--model", "model=" + TinyPath("dynamic")});
  return GuestRun{.guest = guest, .args = std::move(args), .flags = std::move(flags), .models = {"endless"}}.Execute();
}

CommandResult AttackByThreads(const std::string& how, std::vector<std::string> flags = {}) {
  return RunThreads("thread_attacks", {how}, std::move(flags));
}

CommandResult RunText(const std::string& text) {
  const TestFolder folder;
  return GuestRun{.guest = folder.Write("guest.wat", text)}.Execute();
}

TEST(HostileThreads, SpawnsAndRefusals) {
  EXPECT_EQ(AttackByThreads("bomb").out, "spawned 64\n");
  EXPECT_EQ(AttackByThreads("bomb", {"--max-threads", "3"}).out, "spawned 3\n");
  EXPECT_EQ(AttackByThreads("chain").exit_code, 0);
  EXPECT_EQ(AttackByThreads("chain", {"--max-threads", "0"}).exit_code, OnWamr() ? 125 : 63);
  EXPECT_EQ(AttackByThreads("busy").exit_code, 0) << "two on one context";
  EXPECT_EQ(AttackByThreads("grow").out, "grown 100\n") << "memory grows during calls";
}

constexpr char kSpawn[] = R"((import "wasi" "thread-spawn" (func $spawn (param i32) (result i32))))";
constexpr char kThread[] = R"((func (export "wasi_thread_start") (param i32 i32)))";

TEST(HostileThreads, ModulesThatCannotHaveThreads) {
  const std::string memory = R"((memory (export "memory") 1 1 shared))", start = R"((func (export "_start")))";
  const std::string imported = R"((import "env" "memory" (memory 1 1 shared)))";
  const struct {
    std::string text, error;
  } modules[] = {
      {kSpawn + imported + start, "exports no function wasi_thread_start of two i32"},
      {kSpawn + imported + start + R"((func (export "wasi_thread_start") (param i32)))",
       "exports no function wasi_thr"},
      {kSpawn + imported + start + R"((func (export "wasi_thread_start") (param i32 v128)))",
       "exports no function wasi_thr"},
      {kSpawn + imported + start + R"((memory (export "wasi_thread_start") 1))", "exports no function wasi_thread_sta"},
      {kSpawn + memory + start + kThread, "imports wasi::thread-spawn but no shared memory"},
      {kSpawn + imported + R"((import "a" "b" (memory 1 1 shared)))" + start + kThread, "more than one shared memory"},
      {kSpawn + std::string(R"((import "env" "memory" (memory i64 1 0x1000000000000 shared)))") + start + kThread,
       "shared memory with 64-bit addresses"},
      {R"((import "wasi" "thread-spawn" (func (param i64) (result i32))))" + imported + start + kThread,
       "incompatible import type for `wasi::thread-spawn`"},
      {R"((import "env" "memory" (memory 1)))" + start, "unknown import: `env::memory`"},
      {kSpawn + imported + R"((import "env" "f" (func)))" + start + kThread, "unknown import: `env::f`"},
      {kSpawn + imported + kThread, "exports no function _start"},
  };
  for (const auto& module : modules) {
    const CommandResult result = RunText("(module " + module.text + ")");
    EXPECT_EQ(result.exit_code, 125) << module.text;
    EXPECT_TRUE(HasInOrder(result.err, {"wasinn: error: ", module.error})) << module.text << result.err;
  }
}

// All that a 32-bit memory can have, of which nothing is touched; and one that lies within other limits.
TEST(HostileThreads, MemoriesOfAnySize) {
  for (const char* limits : {"1 65536", "0 0", "65536 65536"}) {
    const std::string memory = std::string(R"((import "env" "memory" (memory )") + limits + " shared))";
    const CommandResult result =
        RunText("(module " + memory + kSpawn + kThread + R"((export "memory" (memory 0)) (func (export "_start"))))");
    EXPECT_EQ(result.exit_code, 0) << limits << result.err;
  }
}

// A failed call of a thread does not affect the guest's other threads.
TEST(HostileThreads, ThreadsWithoutAMemoryToSee) {
  const std::string text =
      std::string(R"((module (import "wasi_ephemeral_nn" "load_by_name" (func $load (param i32 i32 i32) (result i32)))
    (import "env" "memory" (memory 1 2 shared)) )") +
      kSpawn + kThread + R"((func (export "_start")
    (if (i32.ne (call $load (i32.const 0) (i32.const 1) (i32.const 8)) (i32.const 3)) (then (unreachable))))))";
  const CommandResult result = RunText(text);
  EXPECT_EQ(result.exit_code, 0) << result.err;  // missing_memory
}

// The system gives the command no more than so many threads at once, be it none: if any thread asks for one more, the command
// lives. What it cannot do without is an error before the guest runs, what a call cannot do without is the call's
// error.
TEST(HostileThreads, ThreadsThatTheSystemDoesNotGive) {
  constexpr char kAll[] = "inferred 8\nrefused 0\nfirst 1\n";
  std::string out;
  // To compile a module Wasmtime needs a thread for each core.
  int most = OnWamr() ? 0 : static_cast<int>(std::thread::hardware_concurrency()) + 2;
  const int end = most + 100;
  for (bool ran = false; most < end && out != kAll; ++most) {
    const TestFolder scratch;
    const GuestRun run{.guest = "thread_attacks",
                       .args = {"use"},
                       .flags = {"--nn-timeout", "0", "--model", "model=" + TinyPath("dynamic")}};
    GuestCommand command = run.Command(scratch);
    command.environment.push_back("LD_PRELOAD=" + InTestsBuild("lib/libhostile_no_threads.so"));
    command.environment.push_back("NO_THREADS_OVER=" + std::to_string(most));
    // GCC 12's LeakSanitizer guesses the sizes of threads' dynamic TLS, and reads past memory if it guesses wrong.
    command.environment.push_back("ASAN_OPTIONS=verify_asan_link_order=0:intercept_tls_get_addr=0");
    const CommandResult result = RunCommand(command.argv, command.environment);
    out = result.out;
    unsigned inferred = 0, refused = 0, first = 0;
    if (std::sscanf(out.c_str(), "inferred %u refused %u first %u", &inferred, &refused, &first) == 3) {
      ran = true;
      EXPECT_EQ(result.exit_code, 0) << most << result.err;
      EXPECT_LE(inferred + refused, 8u);
    } else {
      EXPECT_FALSE(ran) << most << " threads are not enough, and fewer were";
      EXPECT_EQ(result.exit_code, 125) << most << out << result.err;
      EXPECT_TRUE(HasInOrder(result.err, {"wasinn: error: ", "thread"})) << most << result.err;
    }
  }
  EXPECT_EQ(out, kAll) << most;
}

// A thread that returns ends itself alone, in whatever order they come and go.
TEST(HostileThreads, ThreadsThatReturnAtOnce) {
  const std::string text = std::string(R"((module (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
    (import "env" "memory" (memory 1 2 shared)) (export "memory" (memory 0)) )") +
                           kSpawn + R"((func (export "wasi_thread_start") (param $id i32) (param i32)
      (drop (i32.atomic.rmw.add (i32.const 0) (i32.const 1))))
    (func (export "_start") (local $made i32)
      (loop $next
        (if (i32.gt_s (call $spawn (i32.const 0)) (i32.const 0))
          (then (local.set $made (i32.add (local.get $made) (i32.const 1)))))
        (br_if $next (i32.lt_u (local.get $made) (i32.const 500))))
      (loop $wait (br_if $wait (i32.lt_u (i32.atomic.load (i32.const 0)) (i32.const 500))))
      (call $exit (i32.const 9)))))";
  EXPECT_EQ(RunText(text).exit_code, 9);
}

}  // namespace
}  // namespace wasinn::testing
