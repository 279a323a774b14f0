// What a guest did is counted, whichever of its contexts are still there.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "support/echo.h"
#include "support/gate.h"

namespace wasinn::testing {
namespace {

struct CountedProgram {
  explicit CountedProgram(wasinn_host* host) : guest(NewGuest(host)), calls(guest.get(), 1 << 20) {
    EXPECT_EQ(calls.LoadByName("m", graph), kSuccess);
  }
  uint32_t NewContext() {
    uint32_t context = 0;
    EXPECT_EQ(calls.InitContext(graph, context), kSuccess);
    return context;
  }
  wasinn_guest_stats stats() const { return StatsOf(guest); }
  GuestPtr guest;
  FakeGuest calls;
  uint32_t graph = 0;
};

TEST(Counts, NeverGoBack) {
  Log log;
  const HostPtr host = EchoHost(log);
  Gate gate;
  AddEchoModel(host.get(), "m", "in x f32 1\ndeaf\n" + gate.Compute());
  CountedProgram program(host.get());
  const uint32_t context = program.NewContext();
  ASSERT_EQ(program.calls.SetInput(context, 0, {1}, kF32, std::vector<float>{1}), kSuccess);
  auto computing = std::async(std::launch::async, [&] { return program.calls.Call("compute", {context}); });
  gate.Await();
  EXPECT_EQ(program.stats().computes, 1u);
  ASSERT_EQ(FakeGuest(program.guest.get()).Call("finalize_execution_context", {context}), kSuccess);
  EXPECT_EQ(program.stats().computes, 1u) << "dropped, and computing still";
  EXPECT_EQ(program.stats().copies_in, 1u);
  gate.Open();
  (void)computing.get();
  EXPECT_EQ(program.stats().computes, 1u);
  EXPECT_EQ(program.stats().copies_in, 1u);
}

// Else a guest that drops its only context could have no other one while somebody counts.
TEST(Counts, WhoCountsHoldsNothing) {
  Log log;
  const HostPtr host = EchoHost(log, "[limits]\nmax_contexts = 1\n");
  AddEchoModel(host.get(), "m", "in x f32 1\n");
  CountedProgram program(host.get());
  std::atomic<bool> done{false};
  std::thread counting([&] {
    while (!done) (void)program.stats();
  });
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    uint32_t context = 0;
    if (program.calls.Call("init_execution_context", {program.graph, 64}) != kSuccess) {
      ++refused;
      continue;
    }
    context = program.calls.Read<uint32_t>(64);
    EXPECT_EQ(program.calls.Call("finalize_execution_context", {context}), kSuccess);
  }
  done = true;
  counting.join();
  EXPECT_EQ(refused, 0);
}

}  // namespace
}  // namespace wasinn::testing
