// Backend libraries of other versions: what they know is used, what they lack is not looked for.
#include <fmt/format.h>
#include <wasinn/backend.h>

#include "support/echo.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

HostPtr VersionsHost(Log& log) { return EchoHost(log, "", InThisBuild("lib/wasinn-versions")); }

void AddModelOf(wasinn_host* host, const char* backend, std::string_view directives) {
  const StatusPtr status = AddEchoModel(host, backend, directives, {.encoding = "ggml", .backend = backend});
  ASSERT_EQ(status, nullptr) << wasinn_status_message(status.get());
}

TEST(VersionOfTheHeaders, IsThatOfTheLibrary) {
  EXPECT_STREQ(WASINN_VERSION, wasinn_version());
  EXPECT_EQ(WASINN_VERSION, fmt::format("{}.{}.{}", WASINN_VERSION_MAJOR, WASINN_VERSION_MINOR, WASINN_VERSION_PATCH));
}

class Versions : public ::testing::TestWithParam<const char*> {};

// `older`: behind its table there is no memory.
TEST_P(Versions, AModelComputes) {
  Log log;
  const HostPtr host = VersionsHost(log);
  AddModelOf(host.get(), GetParam(), "in x f32 2\n");
  EchoProgram program(host.get());
  const uint32_t context = program.NewContext(GetParam());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(program.Infer(context, {1.5f, -2.f}), (std::vector<float>{1.5f, -2.f}));
  EXPECT_EQ(program.Finalize(context), kSuccess);
}
INSTANTIATE_TEST_SUITE_P(All, Versions, ::testing::Values("older", "newer"));

TEST(Versions, AFunctionThatAnOlderLibraryLacksIsAbsent) {
  Log log;
  const HostPtr host = VersionsHost(log);
  AddModelOf(host.get(), "older", "in x f32 2\npieces 1\n");
  EchoProgram program(host.get());
  uint32_t graph = 0, context = 0;
  ASSERT_EQ(program.LoadByName("older", graph), kSuccess);
  ASSERT_EQ(program.InitContext(graph, context), kSuccess);
  EXPECT_EQ(program.Call("compute_single", {context}), kUnsupportedOperation) << "it cannot generate";
  EXPECT_NE(program.Text("wasinn_ext_0.describe", {graph}), "");
}

TEST(Versions, ALibraryThatCannotServeIsRefusedWithTheReason) {
  Log log;
  const HostPtr host = VersionsHost(log);
  const std::string ours = fmt::format("{}.{}", WASINN_BACKEND_ABI_MAJOR, WASINN_BACKEND_ABI_MINOR);
  const std::pair<const char*, std::string> refused[] = {
      {"incomplete", fmt::format("its table of {} bytes has no 'compute'", sizeof(wasinn_backend))},
      {"another", fmt::format("it has version {}.{} of the backend ABI: expected {}.x", WASINN_BACKEND_ABI_MAJOR + 1,
                              WASINN_BACKEND_ABI_MINOR, WASINN_BACKEND_ABI_MAJOR)},
      {"unwilling", fmt::format("it does not serve version {} of the backend ABI, which is this wasinn's", ours)},
      {"mute", "it exports no wasinn_backend_query"}};
  for (const auto& [name, reason] : refused) {
    AddModelOf(host.get(), name, "in x f32 2\n");
    EchoProgram program(host.get());
    uint32_t graph = 0;
    EXPECT_NE(program.LoadByName(name, graph), kSuccess) << name;
    EXPECT_TRUE(log.Contains(fmt::format("libwasinn_backend_{}.so: {}", name, reason))) << name;
  }
}

}  // namespace
}  // namespace wasinn::testing
