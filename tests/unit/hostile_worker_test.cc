// A worker that has been taken over, and lies to its host: its guest gets an error, and the host is as it was.
#include "support/echo.h"
#include "support/files.h"
#include "support/own_process.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

class HostileWorker : public ::testing::TestWithParam<const char*> {
 protected:
  HostileWorker() : program_(folder_ / ("hostile_worker-" + std::string(GetParam()))) {
    std::filesystem::create_symlink(testing::InThisBuild("bin/hostile_worker"), program_);
  }
  HostPtr Host(const std::string& limits = "") {
    return EchoHost(log_, "worker = \"" + program_ + "\"\n[policy]\nload = \"isolated\"\n" + limits);
  }

  const TestFolder folder_;
  const std::string program_;
  Log log_;
};

// Loads, computes and reads, as far as it gets; whether all of it worked.
bool Infer(wasinn_host* host, uint32_t compute_timeout_ms) {
  EchoProgram program(NewGuest(host, &wasinn_limits::compute_timeout_ms, compute_timeout_ms));
  uint32_t graph = 0, context = 0;
  if (program.LoadBytes(EchoModel("any"), 5, graph) != kSuccess) return false;
  if (program.InitContext(graph, context) != kSuccess) return false;
  if (program.Compute(context) != kSuccess) return false;
  const uint32_t place = program.Reserve(12), written = program.Reserve(sizeof(uint32_t));
  return program.Call("get_output", {context, 0, place, 12, written}) == kSuccess;
}

TEST_P(HostileWorker, CostsItsGuestAnError) {
  const HostPtr host = Host("[limits]\nmax_tensor_bytes = 1000000\n");
  const std::string_view lie = GetParam();
  const bool works = lie == "truth" || lie == "descriptors" || lie == "lingers";
  const uint32_t timeout_ms = works ? 0 : 100;
  for (int i = 0; i < 2; ++i) (void)Infer(host.get(), timeout_ms);  // then there is a spare
  const size_t descriptors = CountDescriptors();
  for (int i = 0; i < 3; ++i) {
    const bool worked = Infer(host.get(), timeout_ms);
    if (lie == "twice") continue;  // whatever comes second is taken for the next answer: it is this guest's alone
    EXPECT_EQ(worked, works) << ::testing::PrintToString(log_.lines());
  }
  EXPECT_EQ(CountDescriptors(), descriptors);
}

using HostileWorkerOfMany = HostileWorker;

// Each is refused, and nothing of them stays that is not charged.
TEST_P(HostileWorkerOfMany, LeavesNoOutputs) {
  const HostPtr host = Host();
  EchoProgram calls(host.get());
  uint32_t graph = 0, context = 0;
  ASSERT_EQ(calls.LoadBytes(EchoModel("any"), 5, graph), kSuccess);
  const size_t before = AllocatedBytes();
  constexpr size_t kContexts = 8, kMaxBytes = 4u << 20;
  for (size_t i = 0; i < kContexts; ++i) {
    ASSERT_EQ(calls.InitContext(graph, context), kSuccess);
    EXPECT_EQ(calls.Compute(context), kTooLarge) << ::testing::PrintToString(log_.lines());
  }
  EXPECT_LT(AllocatedBytes(), before + kMaxBytes);
}

INSTANTIATE_TEST_SUITE_P(, HostileWorkerOfMany, ::testing::Values("crowd"));

using HostileWorkerOfWords = HostileWorker;

// The guest pays for its words that are kept.
TEST_P(HostileWorkerOfWords, LeavesNoMemoryUncharged) {
  const HostPtr host = Host();
  EchoProgram calls(NewGuest(host.get(), &wasinn_limits::max_tensor_bytes, uint64_t{4} << 20));
  uint32_t graph = 0, context = 0;
  ASSERT_EQ(calls.LoadBytes(EchoModel("any"), 5, graph), kSuccess);
  const size_t before = AllocatedBytes();
  constexpr size_t kContexts = 12, kMaxBytes = 5u << 20;
  for (size_t i = 0; i < kContexts; ++i) {
    if (calls.InitContext(graph, context) == kTooLarge) break;
    EXPECT_NE(calls.Compute(context), kSuccess);
  }
  EXPECT_LT(AllocatedBytes(), before + calls.Stats().tensor_bytes + kMaxBytes);
  EXPECT_TRUE(log_.Contains("limits.max_tensor_bytes")) << ::testing::PrintToString(log_.lines());
}

INSTANTIATE_TEST_SUITE_P(, HostileWorkerOfWords, ::testing::Values("errors"));

INSTANTIATE_TEST_SUITE_P(, HostileWorker,
                         ::testing::Values("truth", "descriptors", "flags", "reserves", "logs", "payload", "ios",
                                           "dtype", "rank", "name", "needs", "outputs", "code", "lost", "offset",
                                           "dims", "negative", "bytes", "hangs", "lingers", "late", "unasked", "closes",
                                           "cut", "twice", "words"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace wasinn::testing
