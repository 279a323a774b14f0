// A host's models, which guests share, and its backends.
#include "support/echo.h"
#include "support/files.h"
#include "support/gate.h"

namespace wasinn::testing {
namespace {

TEST(Models, CanBeReplacedAndRemovedWhileGuestsHoldThem) {
  const LoggedHost host;
  AddEchoModel(host.get(), "m", "in x f32 1\n");
  EchoProgram program(host.get());
  const uint32_t old_context = program.NewContext("m");
  AddEchoModel(host.get(), "m", "in x f32 2\n");
  const uint32_t new_context = program.NewContext("m");
  EXPECT_EQ(program.Set(old_context, {1}), kSuccess);
  EXPECT_EQ(program.Set(new_context, {1, 2}), kSuccess);
  StatusPtr status(wasinn_host_remove_model(host.get(), "m"));
  EXPECT_EQ(status, nullptr);
  uint32_t graph = 0;
  EXPECT_EQ(program.LoadByName("m", graph), kNotFound);
  EXPECT_EQ(program.Compute(old_context), kSuccess);
  status.reset(wasinn_host_remove_model(host.get(), "m"));
  EXPECT_EQ(wasinn_status_code(status.get()), WASINN_ERROR_NOT_FOUND);
}

TEST(Models, AreCompiledAgainAfterAnUnload) {
  const LoggedHost host;
  const TestFolder folder;
  const std::string path = folder.Write("m", EchoModel("in x f32 1\n"));
  const wasinn_model_options options{.struct_size = sizeof(options), .path = path.c_str()};
  ASSERT_EQ(StatusPtr(wasinn_host_add_model(host.get(), "m", &options)), nullptr);
  EchoProgram program(host.get());
  const uint32_t old_context = program.NewContext("m");
  folder.Write("m", EchoModel("in x f32 2\n"));
  const uint32_t same_context = program.NewContext("m");
  ASSERT_EQ(StatusPtr(wasinn_host_unload_model(host.get(), "m:1")), nullptr);
  const uint32_t new_context = program.NewContext("m");
  EXPECT_EQ(program.Set(old_context, {1}), kSuccess);
  EXPECT_EQ(program.Set(same_context, {1}), kSuccess);
  EXPECT_EQ(program.Set(new_context, {1, 2}), kSuccess);
  EXPECT_EQ(wasinn_status_code(StatusPtr(wasinn_host_unload_model(host.get(), "m:2")).get()), WASINN_ERROR_NOT_FOUND);
  ASSERT_EQ(StatusPtr(wasinn_host_unload_model(host.get(), "m")), nullptr);
}

// No caller waits for other versions that are compiled, and a version that fails changes none.
TEST(Models, ReloadedOnesServeUntilAllVersionsAreThere) {
  const LoggedHost host;
  const TestFolder folder;
  for (uint32_t version : {1u, 2u}) {
    const std::string path = folder.Write(std::to_string(version), EchoModel("in x f32 1\n"));
    wasinn_model_options options{.struct_size = sizeof(options), .path = path.c_str()};
    options.version = version;
    ASSERT_EQ(StatusPtr(wasinn_host_add_model(host.get(), "m", &options)), nullptr);
  }
  EchoProgram program(host.get());
  const uint32_t old_context = program.NewContext("m:1");
  folder.Write("1", EchoModel("in x f32 2\n"));
  folder.Write("2", EchoModel("fail_load 3\n"));
  EXPECT_EQ(wasinn_status_code(StatusPtr(wasinn_host_reload_model(host.get(), "m")).get()),
            WASINN_ERROR_MISSING_MEMORY);  // 3
  EXPECT_EQ(program.Set(program.NewContext("m:1"), {1}), kSuccess);
  const Gate gate;
  folder.Write("2", EchoModel("in x f32 2\n" + gate.Load()));
  auto reloaded = std::async(std::launch::async, [&] { return StatusPtr(wasinn_host_reload_model(host.get(), "m")); });
  gate.Await();
  EXPECT_EQ(program.Set(program.NewContext("m:1"), {1}), kSuccess);
  gate.Open();
  ASSERT_EQ(reloaded.get(), nullptr);
  for (const char* name : {"m:1", "m:2", "m"}) EXPECT_EQ(program.Set(program.NewContext(name), {1, 2}), kSuccess);
  EXPECT_EQ(program.Set(old_context, {1}), kSuccess);
  EXPECT_EQ(wasinn_status_code(StatusPtr(wasinn_host_reload_model(host.get(), "n")).get()), WASINN_ERROR_NOT_FOUND);
}

// Even if another caller is compiling the old file at that moment.
TEST(Models, AnUnloadDuringALoadIsNotLost) {
  const Gate gate;
  const LoggedHost host;
  const TestFolder folder;
  const std::string path = folder.Write("m", EchoModel("in x f32 1\n" + gate.Load()));
  const wasinn_model_options options{.struct_size = sizeof(options), .path = path.c_str()};
  ASSERT_EQ(StatusPtr(wasinn_host_add_model(host.get(), "m", &options)), nullptr);
  EchoProgram first(host.get()), second(host.get());
  auto old_context = std::async(std::launch::async, [&] { return first.NewContext("m"); });
  gate.Await();
  folder.Write("m", EchoModel("in x f32 2\n"));
  ASSERT_EQ(StatusPtr(wasinn_host_unload_model(host.get(), "m")), nullptr);
  const uint32_t new_context = second.NewContext("m");  // it does not wait
  gate.Open();
  EXPECT_EQ(first.Set(old_context.get(), {1}), kSuccess);
  EXPECT_EQ(second.Set(new_context, {1, 2}), kSuccess);
  EXPECT_EQ(second.Set(second.NewContext("m"), {1, 2}), kSuccess);
}

TEST(Models, GuestsThatNameOneTogetherCompileItOnce) {
  const LoggedHost host;
  AddEchoModel(host.get(), "m", "in x f32 1\nload_delay 50\n");
  std::vector<std::jthread> guests;
  for (int i = 0; i < 4; ++i) guests.emplace_back([&] { EchoProgram(host.get()).NewContext("m"); });
  guests.clear();
  EXPECT_EQ(CompilesOf(host), 1u);
}

TEST(Backends, AMissingFrameworkIsNamedWhenItIsNeeded) {
  const LoggedHost host("backends.echo.missing = true\n");
  EchoProgram program(host.get());
  uint32_t graph = 0;
  EXPECT_EQ(program.LoadBytes(EchoModel(""), kGgmlEncoding, graph), kUnsupportedOperation);
  EXPECT_TRUE(host.log.Contains("libecho.so was not found; install it with: scripts/deps.sh echo"));
  EXPECT_EQ(program.LoadBytes("....TFL3", 4, graph), kUnsupportedOperation);
  EXPECT_TRUE(
      host.log.Contains("needs the backend 'tflite': it is not here; scripts/deps.sh tflite fetches what it is built"));
}

TEST(Backends, UnknownKeysNameTheNearest) {
  const LoggedHost host("backends.echo.mising = true\n");
  EchoProgram program(host.get());
  uint32_t graph = 0;
  EXPECT_NE(program.LoadBytes(EchoModel(""), kGgmlEncoding, graph), kSuccess);
  EXPECT_TRUE(host.log.Contains("backend 'echo' has no key 'mising'; did you mean 'missing'?"));
}

TEST(Backends, AreReported) {
  const LoggedHost host;
  std::vector<std::string> names;
  wasinn_host_backends(
      host.get(),
      [](void* out, const wasinn_backend_report* report) {
        static_cast<std::vector<std::string>*>(out)->push_back(std::string(report->name) + " " + report->framework);
      },
      &names);
  EXPECT_THAT(names, ::testing::Contains("echo echo 1.0"));
  EXPECT_THAT(names, ::testing::Contains("tflite "));
}

}  // namespace
}  // namespace wasinn::testing
