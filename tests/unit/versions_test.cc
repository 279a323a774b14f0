// Backend libraries of other versions: what they know is used, what they lack is not looked for.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <wasinn/backend.h>

#include <string>
#include <utility>

#include "support/echo.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

HostPtr VersionsHost(Log& log) { return EchoHost(log, "", InThisBuild("lib/wasinn-versions")); }

void AddModelOf(wasinn_host* host, const char* backend, std::string_view directives) {
  const std::string text = EchoModel(directives);
  const wasinn_bytes bytes{reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  wasinn_model_options options{.struct_size = sizeof(options)};
  options.bytes = &bytes;
  options.n_bytes = 1;
  options.encoding = "ggml";
  options.backend = backend;
  const StatusPtr status(wasinn_host_add_model(host, backend, &options));
  ASSERT_EQ(status, nullptr) << wasinn_status_message(status.get());
}

// One inference on a model with an input of two floats.
void ExpectItComputes(FakeGuest& program, uint32_t context) {
  ASSERT_EQ(program.SetInput<float>(context, 0, {2}, kF32, {1.5f, -2.f}), kSuccess);
  ASSERT_EQ(program.Call("compute", {context}), kSuccess);
  const uint32_t out = program.Reserve(8), written = program.Reserve(4);
  ASSERT_EQ(program.Call("get_output", {context, 0, out, 8, written}), kSuccess);
  EXPECT_EQ(program.Read<uint32_t>(written), 8u);
  EXPECT_EQ(program.Read<float>(out), 1.5f);
  EXPECT_EQ(program.Read<float>(out + 4), -2.f);
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
  const GuestPtr guest = NewGuest(host.get());
  FakeGuest program(guest.get());
  uint32_t graph = 0, context = 0;
  ASSERT_EQ(program.LoadByName(GetParam(), graph), kSuccess);
  ASSERT_EQ(program.InitContext(graph, context), kSuccess);
  for (int i = 0; i < 3; ++i) ExpectItComputes(program, context);
  EXPECT_EQ(program.Call("finalize_execution_context", {context}), kSuccess);
}
INSTANTIATE_TEST_SUITE_P(All, Versions, ::testing::Values("older", "newer"));

TEST(Versions, WhatAnOlderLibraryLacksIsAbsent) {
  Log log;
  const HostPtr host = VersionsHost(log);
  AddModelOf(host.get(), "older", "in x f32 2\npieces 1\n");
  const GuestPtr guest = NewGuest(host.get());
  FakeGuest program(guest.get());
  uint32_t graph = 0, context = 0;
  ASSERT_EQ(program.LoadByName("older", graph), kSuccess);
  ASSERT_EQ(program.InitContext(graph, context), kSuccess);
  EXPECT_EQ(program.Call("compute_single", {context}), kUnsupportedOperation) << "it cannot generate";
  const uint32_t out = program.Reserve(1024), written = program.Reserve(4);
  EXPECT_EQ(program.Call("wasinn_ext_0.describe", {graph, out, 1024, written}), kSuccess);
}

TEST(Versions, WhatCannotServeIsRefusedWithTheReason) {
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
    const GuestPtr guest = NewGuest(host.get());
    FakeGuest program(guest.get());
    uint32_t graph = 0;
    EXPECT_NE(program.LoadByName(name, graph), kSuccess) << name;
    EXPECT_TRUE(log.Contains(fmt::format("libwasinn_backend_{}.so: {}", name, reason))) << name;
  }
}

}  // namespace
}  // namespace wasinn::testing
