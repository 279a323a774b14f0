// Guests with threads on each engine, in one OS process, with the echo backend. Under ThreadSanitizer too, which sees
// all but the engines' own code. tests/hostile has more of it, by the command.
#include "engines/engine.h"
#include "support/echo.h"
#include "support/gate.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

using engines::Exit;

class EngineThreadsTest : public ::testing::TestWithParam<const char*> {
 protected:
  EngineThreadsTest() {
    AddEchoModel(host_.get(), "model", "in x f32 -1,-1\n");
    AddEchoModel(host_.get(), "endless", "in x f32 1\ndelay 100000000\n");
    auto engine = OnWamr() ? engines::NewWamrEngine({.cache = false, .warn = {}})
                           : engines::NewWasmtimeEngine({.cache = false, .warn = {}});
    if (engine) {
      engine_ = std::move(*engine);
    } else {
      ADD_FAILURE() << engine.error();
    }
  }

  static bool OnWamr() { return std::string_view(GetParam()) == "wamr"; }
  std::unique_ptr<engines::Program> Load(const std::string& guest) const {
    auto program = engine_->Load(GuestFile(std::string("hostile-") + guest));
    EXPECT_TRUE(program.has_value()) << program.error();
    return program ? std::move(*program) : nullptr;
  }
  // The wasinn_guest is gone when it returns.
  Exit Run(const engines::Program& program, const std::string& how) const {
    const GuestPtr guest = NewGuest(host_.get());
    return program.Run({.args = {"guest", how}, .guest = guest.get()});
  }

  Log log_;
  const HostPtr host_ = EchoHost(log_, "limits.compute_timeout_ms = 0\n");
  std::unique_ptr<engines::Engine> engine_;
};

TEST_P(EngineThreadsTest, TenThousandCallsOfEachOfEight) {
  const auto program = Load("threads");
  ASSERT_NE(program, nullptr);
  const Exit exit = Run(*program, "");
  EXPECT_EQ(exit.kind, Exit::Kind::kExited) << exit.message;
  EXPECT_EQ(exit.code, 0);
}

TEST_P(EngineThreadsTest, SpawnsAndRefusals) {
  const auto program = Load("thread_attacks");
  ASSERT_NE(program, nullptr);
  for (const char* how : {"bomb", "chain", "busy", "grow"}) {
    const Exit exit = Run(*program, how);
    EXPECT_EQ(exit.code, 0) << how << ": " << exit.message;
  }
}

TEST_P(EngineThreadsTest, TheEndOfOneThreadIsTheEndOfAll) {
  const auto program = Load("thread_attacks");
  ASSERT_NE(program, nullptr);
  const struct {
    const char* how;
    int code;
  } ends[] = {{"exit-lpc", 7}, {"trap-lpc", 134}, {"zero-lpc", 0}, {"return-lpc", 0}};
  for (const auto& end : ends) {
    const Exit exit = Run(*program, end.how);
    EXPECT_EQ(exit.code, end.code) << end.how << ": " << exit.message;
    EXPECT_EQ(exit.kind, end.code == 134 ? Exit::Kind::kTrapped : Exit::Kind::kExited) << end.how;
  }
}

// One ends while the other is being served: what interrupts the threads of the one does not harm the other's.
TEST_P(EngineThreadsTest, GuestsBesideEachOther) {
  const auto stress = Load("threads"), attacks = Load("thread_attacks");
  ASSERT_TRUE(stress != nullptr && attacks != nullptr);
  int stress_code = -1;
  std::thread beside([&] { stress_code = Run(*stress, "").code; });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Run(*attacks, "exit-lc").code, 7);
  beside.join();
  EXPECT_EQ(stress_code, 0);
}

// There is room for one compute, which another guest has: all those of this guest wait for their turn. It ends all the
// same, the other one goes on, and no turn is lost.
TEST_P(EngineThreadsTest, AGuestThatWaitsForItsTurnEndsAtOnce) {
  const Gate gate;
  const LoggedHost host("max_computes = 1\nlimits.compute_timeout_ms = 0\n");
  AddEchoModel(host.get(), "held", "in x f32 1\nturns 0\n" + gate.Compute());
  AddEchoModel(host.get(), "endless", "in x f32 1\nturns 0\ndelay 100000000\n");
  const GuestPtr other = NewGuest(host.get());
  FakeGuest holder(other.get());
  uint32_t graph = 0, context = 0;
  ASSERT_EQ(holder.LoadByName("held", graph), kSuccess);
  ASSERT_EQ(holder.InitContext(graph, context), kSuccess);
  ASSERT_EQ(holder.SetInput<float>(context, 0, {1}, kF32, {7}), kSuccess);
  std::thread holding([&] { EXPECT_EQ(holder.Call("compute", {context}), kSuccess); });
  gate.Await();
  const auto program = Load("thread_attacks");
  ASSERT_NE(program, nullptr);
  const struct {
    const char* how;
    int code;
  } ends[] = {{"exit-c", 7}, {"trap-c", 134}, {"return-c", 0}};
  for (const auto& end : ends) {
    const GuestPtr guest = NewGuest(host.get());
    const Exit exit = program->Run({.args = {"guest", end.how}, .guest = guest.get()});
    EXPECT_EQ(exit.code, end.code) << end.how << ": " << exit.message;
    const wasinn_statistics stats = StatsOf(guest);
    EXPECT_EQ(stats.inside + stats.graphs + stats.contexts, 0u) << end.how;
    EXPECT_EQ(stats.tensor_bytes, 0u) << end.how;
  }
  EXPECT_TRUE(host.log.Contains("its context or guest was closed: it was still waiting"));
  gate.Open();
  holding.join();
  EXPECT_EQ(holder.Call("compute", {context}), kSuccess);
}

std::set<std::string> ThreadsOfThisProcess() {
  std::set<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) all.insert(entry.path().filename());
  return all;
}

// Threads that sleep in the system outlive their guest. When they wake, its wasinn_guest and program are gone. WAMR waits
// for them.
class LeftThreadsTest : public EngineThreadsTest {};
TEST_P(LeftThreadsTest, UseNothingThatIsGone) {
  auto program = Load("thread_attacks");
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(Run(*program, "exit-l").code, 7);  // starts the threads of the host
  std::set<std::string> left;
  while (left.empty()) {  // on a busy machine they may have slept enough before the guest has ended
    const std::set<std::string> before = ThreadsOfThisProcess();
    EXPECT_EQ(Run(*program, "exit-s").code, 7);
    std::ranges::set_difference(ThreadsOfThisProcess(), before, std::inserter(left, left.end()));
  }
  program.reset();
  engine_.reset();
  const auto is_there = [](const std::string& thread) { return ThreadsOfThisProcess().contains(thread); };
  while (std::ranges::any_of(left, is_there)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

std::vector<const char*> Engines() {
#if ENGINES_WAMR
  return {"wasmtime", "wamr"};
#else
  return {"wasmtime"};
#endif
}
INSTANTIATE_TEST_SUITE_P(Wasmtime, LeftThreadsTest, ::testing::Values("wasmtime"));
INSTANTIATE_TEST_SUITE_P(Engines, EngineThreadsTest, ::testing::ValuesIn(Engines()),
                         [](const auto& engine) { return std::string(engine.param); });

}  // namespace
}  // namespace wasinn::testing
