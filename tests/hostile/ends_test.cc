// Guests that end badly, endless computes, and commands that a signal ends in the middle of one.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>

#include "hostile/run.h"

namespace wasinn::testing {
namespace {

constexpr int kTrapped = 134;

TEST(HostileEnds, TrapsHaveABacktrace) {
  const struct {
    const char *how, *why;
  } traps[] = {{"unreachable", "unreachable"},
               {"recursion", OnWamr() ? "operand stack overflow" : "call stack exhausted"},
               {"calls", OnWamr() ? "operand stack overflow" : "call stack exhausted"},
               {"frames", "out of bounds memory access"},  // C's own stack lies in memory
               {"division", "divide by zero"},
               {"bounds", "out of bounds memory access"},
               {"indirect", "indirect call type mismatch"},
               {"abort", "unreachable"}};
  for (const auto& trap : traps) {
    // WasmEdge's interpreter ends a recursion when all memory is taken, and then the kernel ends it.
    if (OnWasmEdge() && std::string_view(trap.why).ends_with("exhausted")) continue;
    const CommandResult result = GuestRun{.guest = "ends", .args = {trap.how}}.Execute();
    EXPECT_EQ(result.exit_code, kTrapped) << trap.how << result.err;
    if (OnWasmEdge()) {  // it has words of its own, and writes them to stdout
      EXPECT_TRUE(result.out.starts_with(std::string(kHonest) + "\n[")) << trap.how << result.out;
      EXPECT_EQ(result.err, "") << trap.how;
      continue;
    }
    EXPECT_EQ(result.out, std::string(kHonest) + "\n") << trap.how;
    EXPECT_TRUE(HasInOrder(result.err, {"wasinn: error: ", "ends.wasm: ", trap.why, "wasm backtrace:", "ends.wasm!"}))
        << trap.how << ":\n"
        << result.err;
  }
}

TEST(HostileEnds, TheCommandHasTheGuestsExitCode) {
  EXPECT_EQ((GuestRun{.guest = "ends", .args = {"exit"}}.Execute().exit_code), 7);
  EXPECT_EQ((GuestRun{.guest = "ends", .args = {"exit-125"}}.Execute().exit_code), 125);
  EXPECT_EQ((GuestRun{.guest = "ends", .args = {"return"}}.Execute().exit_code), 9);
  if (OnWasmEdge()) return;
  // Codes from 126 are a shell's own words, so the engine refuses them.
  const CommandResult refused = GuestRun{.guest = "ends", .args = {"exit-255"}}.Execute();
  EXPECT_EQ(refused.exit_code, 125);
  EXPECT_TRUE(HasInOrder(refused.err, {"wasinn: error: ", "exit status"})) << refused.err;
}

TEST(HostileEnds, AnEndlessModelIsStoppedAtItsDeadline) {
  const std::vector<std::string> stopped = {"compute: timeout: onnx: the compute was stopped after 300 ms"};
  std::vector<Attack> attacks = {{"input"}};
  for (int i = 0; i < 3; ++i) {
    attacks.push_back(Line("computing"));
    attacks.push_back({"compute", "runtime_error", stopped});
    attacks.push_back({"output", "invalid_argument", {"there is no output before a successful compute"}});
    attacks.push_back(Honest());
  }
  const GuestRun run{.guest = "endless", .args = {"3"}, .flags = {"--nn-timeout", "300ms"}, .models = {"endless"}};
  ExpectAttacks(run.Execute(), attacks);
}

// A compute has no deadline here, and the command ends all the same.
TEST(HostileEnds, SignalsEndAComputingCommand) {
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    const TempFolder scratch;
    const GuestRun run{.guest = "endless", .flags = {"--nn-timeout", "0"}, .models = {"endless"}};
    const GuestCommand command = run.Command(scratch);
    Child child(command.argv, command.environment);
    ASSERT_TRUE(child.WaitForLine("computing"));
    child.WaitForWork(std::chrono::milliseconds(100));  // in the compute: there is nothing else to do
    child.Kill(signal);
    EXPECT_EQ(child.Wait().exit_code, 128 + signal);
  }
}

}  // namespace
}  // namespace wasinn::testing
