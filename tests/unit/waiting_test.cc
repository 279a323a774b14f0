// Loads that take long: which guests wait for them, for how long, and which do not.
#include "support/echo.h"
#include "support/gate.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

constexpr const char* kInput = "in x f32 2\n";

// A guest whose loads, and what it waits for, have this deadline.
struct WaitingProgram : EchoProgram {
  WaitingProgram(const HostPtr& host, uint32_t load_timeout_ms)
      : EchoProgram(NewGuest(host.get(), &wasinn_limits::load_timeout_ms, load_timeout_ms)) {}
  uint32_t Load(std::string_view name) {
    uint32_t graph = 0;
    return LoadByName(name, graph);
  }
  std::future<uint32_t> BeginLoad(std::string_view name) {
    return std::async(std::launch::async, [this, name] { return Load(name); });
  }
};

constexpr uint32_t kLong = 600'000, kShort = 50;

void AddModelOf(const HostPtr& host, const char* name, const char* backend) {
  const StatusPtr status = AddEchoModel(host.get(), name, kInput, {.encoding = "ggml", .backend = backend});
  ASSERT_EQ(status, nullptr) << wasinn_status_message(status.get());
}

TEST(Waiting, AFrameworkThatIsStuckInOpenHoldsUpNoOther) {
  Gate gate;
  const LoggedHost host(gate.BackendOpen(), InThisBuild("lib/wasinn-versions"));
  AddModelOf(host, "slow", "echo");
  AddModelOf(host, "fast", "older");
  WaitingProgram first(host, kLong), second(host, kLong);
  auto loading = first.BeginLoad("slow");
  gate.Await();
  EXPECT_EQ(second.Load("fast"), kSuccess) << "while the first one is inside";
  gate.Open();
  EXPECT_EQ(loading.get(), kSuccess);
}

TEST(Waiting, AWaitForAnothersOpenHasADeadline) {
  Gate gate;
  const LoggedHost host(gate.BackendOpen(), InThisBuild("lib/wasinn-versions"));
  AddModelOf(host, "a", "echo");
  AddModelOf(host, "b", "echo");
  WaitingProgram first(host, kLong), second(host, kShort);
  auto loading = first.BeginLoad("a");
  gate.Await();
  EXPECT_EQ(second.Load("b"), kRuntimeError);
  EXPECT_TRUE(
      host.log.Contains("timeout: model 'b:1': backend 'echo' was still being loaded for another guest after 50 ms"))
      << host.log.Last();
  gate.Open();
  EXPECT_EQ(loading.get(), kSuccess);
  EXPECT_EQ(second.Load("b"), kSuccess) << "a wait that was too long is not remembered";
}

TEST(Waiting, AWaitForAnothersLoadHasADeadline) {
  Gate gate;
  const LoggedHost host;
  AddEchoModel(host.get(), "m", kInput + gate.Load());
  WaitingProgram first(host, kShort), second(host, kShort);
  auto loading = first.BeginLoad("m");
  gate.Await();
  EXPECT_EQ(second.Load("m"), kRuntimeError);
  EXPECT_TRUE(host.log.Contains("timeout: model 'm:1' was still being loaded for another guest after 50 ms"))
      << host.log.Last();
  gate.Open();
  EXPECT_EQ(loading.get(), kSuccess) << "a named model's own load has no deadline";
}

TEST(Waiting, AClosedGuestDoesNotWait) {
  Gate gate;
  const LoggedHost host;
  AddEchoModel(host.get(), "m", kInput + gate.Load());
  WaitingProgram first(host, kLong), second(host, kLong);
  auto loading = first.BeginLoad("m");
  gate.Await();
  auto waiting = second.BeginLoad("m");
  wasinn_guest_close(second.guest.get());
  EXPECT_EQ(waiting.get(), kRuntimeError);
  gate.Open();
  EXPECT_EQ(loading.get(), kSuccess);
}

TEST(Waiting, AWaitEndsWithTheFailureOfTheLoad) {
  Gate gate;
  const LoggedHost host;
  AddEchoModel(host.get(), "m", "fail_load 7\n" + gate.Load());
  WaitingProgram first(host, kLong), second(host, kLong);
  auto loading = first.BeginLoad("m");
  gate.Await();
  auto waiting = second.BeginLoad("m");
  gate.Open();
  EXPECT_EQ(loading.get(), kTooLarge);
  EXPECT_EQ(waiting.get(), kTooLarge);
}

TEST(Waiting, AnUnloadHoldsUpNoLoad) {
  Gate gate;
  const LoggedHost host;
  AddEchoModel(host.get(), "slow", kInput + gate.Unload());
  AddEchoModel(host.get(), "fast", kInput);
  EXPECT_EQ(WaitingProgram(host, kLong).Load("slow"), kSuccess);
  auto removing = std::async(std::launch::async,
                             [&] { return StatusPtr(wasinn_host_remove_model(host.get(), "slow")) == nullptr; });
  gate.Await();
  EXPECT_EQ(WaitingProgram(host, kLong).Load("fast"), kSuccess) << "while the framework unloads";
  gate.Open();
  EXPECT_TRUE(removing.get());
}

TEST(Waiting, MakingAContextHasADeadline) {
  const Gate gate;
  const LoggedHost host;
  AddEchoModel(host.get(), "m", kInput + gate.Context());
  WaitingProgram program(host, kShort);
  uint32_t graph = 0, context = 0;
  ASSERT_EQ(program.LoadByName("m", graph), kSuccess);
  EXPECT_EQ(program.InitContext(graph, context), kRuntimeError);
  EXPECT_TRUE(host.log.Contains("timeout: echo: the making of a context was stopped after 50 ms")) << host.log.Last();
}

}  // namespace
}  // namespace wasinn::testing
