// An emulator has no filters of system calls: a worker with its sandbox says so, and loads nothing.
#include "support/echo.h"
#include "support/this_build.h"
#include "worker/sandbox_support.h"

namespace wasinn::test {
namespace {

using worker::SandboxOptionsOf;

TEST(EmulatedWorker, LacksFiltersOfSystemCalls) {
  EXPECT_EQ(worker::FindSandboxSupport().Missing(SandboxOptionsOf("onnx")), "seccomp filters for all threads");
  EXPECT_EQ(worker::FindSandboxSupport().Missing(SandboxOptionsOf("openvino")),
            "seccomp filters for all threads, Landlock");
}

TEST(EmulatedWorker, LoadsNoModelOfAGuest) {
  testing::Log log;
  const testing::HostPtr host = testing::EchoHost(
      log, "worker = \"" + testing::InThisBuild("src/worker/wasinn-worker") + "\"\n[policy]\nload = \"isolated\"\n");
  const testing::GuestPtr guest = testing::NewGuest(host.get());
  testing::FakeGuest calls(guest.get());
  uint32_t graph = 0;
  EXPECT_EQ(calls.LoadBytes(testing::EchoModel("in x f32 1\n"), testing::kGgmlEncoding, graph),
            testing::kUnsupportedOperation);
  EXPECT_THAT(log.Last(), HasSubstr("no model of a guest is loaded outside of the host here: seccomp filters for all "
                                    "threads (policy.load = \"in-process\" is for guests that are trusted)"));
}

}  // namespace
}  // namespace wasinn::test
