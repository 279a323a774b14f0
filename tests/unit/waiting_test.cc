// Loads that take long: who waits for them, for how long, and who does not.
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "support/echo.h"
#include "support/gate.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

constexpr const char* kInput = "in x f32 2\n";

// A guest whose loads, and what it waits for, have this deadline.
struct WaitingProgram {
  WaitingProgram(wasinn_host* host, uint32_t load_timeout_ms)
      : guest(NewGuest(host, &wasinn_limits::load_timeout_ms, load_timeout_ms)), calls(guest.get()) {}
  uint32_t Load(std::string_view name) {
    uint32_t graph = 0;
    return calls.LoadByName(name, graph);
  }

  GuestPtr guest;
  FakeGuest calls;
};

constexpr uint32_t kLong = 600'000, kShort = 50;

void AddModelOf(wasinn_host* host, const char* name, const char* backend) {
  const std::string text = EchoModel(kInput);
  const wasinn_bytes bytes{reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  wasinn_model_options options{.struct_size = sizeof(options)};
  options.bytes = &bytes;
  options.n_bytes = 1;
  options.encoding = "ggml";
  options.backend = backend;
  const StatusPtr status(wasinn_host_add_model(host, name, &options));
  ASSERT_EQ(status, nullptr) << wasinn_status_message(status.get());
}

TEST(Waiting, AFrameworkThatIsStuckInOpenHoldsUpNoOther) {
  Log log;
  Gate gate;
  const HostPtr host = EchoHost(log, gate.BackendOpen(), InThisBuild("lib/wasinn-versions"));
  AddModelOf(host.get(), "slow", "echo");
  AddModelOf(host.get(), "fast", "older");
  WaitingProgram first(host.get(), kLong), second(host.get(), kLong);
  auto loading = std::async(std::launch::async, [&] { return first.Load("slow"); });
  gate.Await();
  EXPECT_EQ(second.Load("fast"), kSuccess) << "while the first one is inside";
  gate.Open();
  EXPECT_EQ(loading.get(), kSuccess);
}

TEST(Waiting, WhoWaitsForAnothersOpenHasADeadline) {
  Log log;
  Gate gate;
  const HostPtr host = EchoHost(log, gate.BackendOpen(), InThisBuild("lib/wasinn-versions"));
  AddModelOf(host.get(), "a", "echo");
  AddModelOf(host.get(), "b", "echo");
  WaitingProgram first(host.get(), kLong), second(host.get(), kShort);
  auto loading = std::async(std::launch::async, [&] { return first.Load("a"); });
  gate.Await();
  EXPECT_EQ(second.Load("b"), kRuntimeError);
  EXPECT_TRUE(log.Contains("timeout: model 'b:1': backend 'echo' was still being loaded for another guest after 50 ms"))
      << log.lines().back();
  gate.Open();
  EXPECT_EQ(loading.get(), kSuccess);
  EXPECT_EQ(second.Load("b"), kSuccess) << "a wait that was too long is not remembered";
}

TEST(Waiting, WhoWaitsForAnothersLoadHasADeadline) {
  Log log;
  Gate gate;
  const HostPtr host = EchoHost(log);
  AddEchoModel(host.get(), "m", kInput + gate.Load());
  WaitingProgram first(host.get(), kShort), second(host.get(), kShort);
  auto loading = std::async(std::launch::async, [&] { return first.Load("m"); });
  gate.Await();
  EXPECT_EQ(second.Load("m"), kRuntimeError);
  EXPECT_TRUE(log.Contains("timeout: model 'm:1' was still being loaded for another guest after 50 ms"))
      << log.lines().back();
  gate.Open();
  EXPECT_EQ(loading.get(), kSuccess) << "a named model's own load has no deadline";
}

TEST(Waiting, AClosedGuestWaitsForNobody) {
  Log log;
  Gate gate;
  const HostPtr host = EchoHost(log);
  AddEchoModel(host.get(), "m", kInput + gate.Load());
  WaitingProgram first(host.get(), kLong), second(host.get(), kLong);
  auto loading = std::async(std::launch::async, [&] { return first.Load("m"); });
  gate.Await();
  auto waiting = std::async(std::launch::async, [&] { return second.Load("m"); });
  wasinn_guest_close(second.guest.get());
  EXPECT_EQ(waiting.get(), kRuntimeError);
  gate.Open();
  EXPECT_EQ(loading.get(), kSuccess);
}

TEST(Waiting, WhoWaitsGetsTheFailureOfTheLoad) {
  Log log;
  Gate gate;
  const HostPtr host = EchoHost(log);
  AddEchoModel(host.get(), "m", "fail_load 7\n" + gate.Load());
  WaitingProgram first(host.get(), kLong), second(host.get(), kLong);
  auto loading = std::async(std::launch::async, [&] { return first.Load("m"); });
  gate.Await();
  auto waiting = std::async(std::launch::async, [&] { return second.Load("m"); });
  gate.Open();
  EXPECT_EQ(loading.get(), kTooLarge);
  EXPECT_EQ(waiting.get(), kTooLarge);
}

TEST(Waiting, AnUnloadHoldsUpNobody) {
  Log log;
  Gate gate;
  const HostPtr host = EchoHost(log);
  AddEchoModel(host.get(), "slow", kInput + gate.Unload());
  AddEchoModel(host.get(), "fast", kInput);
  {
    EXPECT_EQ(WaitingProgram(host.get(), kLong).Load("slow"), kSuccess);
  }
  auto removing = std::async(std::launch::async,
                             [&] { return StatusPtr(wasinn_host_remove_model(host.get(), "slow")) == nullptr; });
  gate.Await();
  EXPECT_EQ(WaitingProgram(host.get(), kLong).Load("fast"), kSuccess) << "while the framework unloads";
  gate.Open();
  EXPECT_TRUE(removing.get());
}

TEST(Waiting, MakingAContextHasADeadline) {
  Log log;
  const Gate gate;
  const HostPtr host = EchoHost(log);
  AddEchoModel(host.get(), "m", kInput + gate.Context());
  WaitingProgram program(host.get(), kShort);
  uint32_t graph = 0, context = 0;
  ASSERT_EQ(program.calls.LoadByName("m", graph), kSuccess);
  EXPECT_EQ(program.calls.InitContext(graph, context), kRuntimeError);
  EXPECT_TRUE(log.Contains("timeout: echo: the making of a context was stopped after 50 ms")) << log.lines().back();
}

}  // namespace
}  // namespace wasinn::testing
