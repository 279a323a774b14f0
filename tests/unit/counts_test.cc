// A guest's work is counted, whichever of its contexts still exist.
#include "support/echo.h"
#include "support/gate.h"

namespace wasinn::testing {
namespace {

TEST(Counts, NeverGoBack) {
  const LoggedHost host;
  Gate gate;
  AddEchoModel(host.get(), "m", "in x f32 1\ndeaf\n" + gate.Compute());
  EchoProgram program(host.get());
  const uint32_t context = program.NewContext("m");
  ASSERT_EQ(program.Set(context, {1}), kSuccess);
  auto computing = std::async(std::launch::async, [&] { return program.Compute(context); });
  gate.Await();
  EXPECT_EQ(program.Stats().computes, 1u);
  ASSERT_EQ(FakeGuest(program.guest.get()).Finalize(context), kSuccess);
  EXPECT_EQ(program.Stats().computes, 1u) << "dropped, and computing still";
  EXPECT_EQ(program.Stats().copies_in, 1u);
  gate.Open();
  (void)computing.get();
  EXPECT_EQ(program.Stats().computes, 1u);
  EXPECT_EQ(program.Stats().copies_in, 1u);
}

// scripts/count_functions.py counts the functions of these inferences.
TEST(Counts, EachInferenceCopiesItsInputAndItsOutputOnce) {
  const LoggedHost host;
  AddEchoModel(host.get(), "m", "in x f32 1 bindable\nturns 0\n");
  EchoProgram program(host.get());
  const uint32_t context = program.NewContext("m");
  constexpr uint64_t kInferences = 100;
  for (uint64_t i = 0; i < kInferences; ++i) {
    ASSERT_EQ(program.Set(context, {static_cast<float>(i)}), kSuccess);
    ASSERT_EQ(program.Compute(context), kSuccess);
    ASSERT_EQ(program.Output<float>(context), std::vector<float>{static_cast<float>(i)});
  }
  EXPECT_EQ(program.Stats().computes, kInferences);
  EXPECT_EQ(program.Stats().copies_in, kInferences);
  EXPECT_EQ(program.Stats().copies_out, kInferences);
}

// Else a guest that drops its only context could have no other one while a thread counts.
TEST(Counts, ReadingThemKeepsNoContextAlive) {
  const LoggedHost host("[limits]\nmax_contexts = 1\n");
  AddEchoModel(host.get(), "m", "in x f32 1\n");
  EchoProgram program(host.get());
  std::atomic<bool> done{false};
  std::thread counting([&] {
    while (!done) (void)program.Stats();
  });
  uint32_t graph = 0, context = 0;
  ASSERT_EQ(program.LoadByName("m", graph), kSuccess);
  for (int i = 0; i < 5000 && !HasFailure(); ++i) {
    EXPECT_EQ(program.InitContext(graph, context), kSuccess);
    EXPECT_EQ(program.Finalize(context), kSuccess);
  }
  done = true;
  counting.join();
}

}  // namespace
}  // namespace wasinn::testing
