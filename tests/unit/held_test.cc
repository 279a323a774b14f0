// A guest is charged for the memory that it holds, whatever a model or a backend says.
#include "core/host/guest.h"
#include "support/echo.h"
#include "support/files.h"
#include "wit_guest.h"

namespace wasinn::testing {
namespace {

TEST(Held, OutputsThatOutgrowTheirSignatureAreCharged) {
  const LoggedHost host("[limits]\nmax_tensor_bytes = 1000\n");
  AddEchoModel(host.get(), "m", "in x u8 1\noutgrows 600\n");
  EchoProgram program(host.get());
  const uint32_t first = program.NewContext("m"), second = program.NewContext("m");
  for (const uint32_t context : {first, second}) ASSERT_EQ(program.Set(context, std::vector<uint8_t>(1)), kSuccess);
  EXPECT_EQ(program.Stats().tensor_bytes, 4u) << "two inputs, two outputs as the signature has them";
  EXPECT_EQ(program.Compute(first), kSuccess);
  EXPECT_EQ(program.Stats().tensor_bytes, 603u);
  EXPECT_EQ(program.Compute(second), kTooLarge);
  EXPECT_EQ(program.Stats().tensor_bytes, 603u) << "and what was refused is discarded";
  const uint32_t buffer = program.Reserve(600), written = program.Reserve(4);
  EXPECT_EQ(program.Call("get_output", {second, 0, buffer, 600, written}), kInvalidArgument);
  EXPECT_EQ(program.Call("get_output", {first, 0, buffer, 600, written}), kSuccess);
  EXPECT_EQ(program.Read<uint32_t>(written), 600u);
  EXPECT_EQ(program.Finalize(first), kSuccess);
  EXPECT_EQ(program.Compute(second), kSuccess);
}

TEST(Held, AnOutputThatCannotBeTakenStaysCharged) {
  const LoggedHost host("");
  AddEchoModel(host.get(), "dynamic", "in x u8 -1\nuntakeable\n");
  AddEchoModel(host.get(), "fixed", "in x u8 1\noutgrows 600\nuntakeable\n");
  for (const auto& [name, bytes] : {std::pair("dynamic", 1u), std::pair("fixed", 600u)}) {
    const GuestPtr guest = NewGuest(host.get());
    WitGuest program(guest.get());
    const uint32_t context = program.ContextOf(name);
    const Outcome input = program.Tensor({1}, kWitU8, {7});
    ASSERT_TRUE(program.SetInput(context, "x", input.rep).ok());
    ASSERT_TRUE(program.ComputeSet(context).ok());
    EXPECT_EQ(program.stats().tensor_bytes, 1 + bytes) << name;
    EXPECT_EQ(program.GetOutput(context, "x").error, kWitRuntimeError);
    EXPECT_EQ(program.stats().tensor_bytes, 1 + bytes) << name;
  }
}

// A compute that begins with other inputs has no outputs of an earlier one, however it ends.
TEST(Held, OutputsGoWithAComputeThatFailsAtItsInputs) {
  const LoggedHost host;
  AddEchoModel(host.get(), "m", "in x u8 2\nin y u8 -1\n");
  EchoProgram program(host.get());
  const uint32_t context = program.NewContext("m"), buffer = program.Reserve(8);
  for (const uint32_t index : {0u, 1u}) {
    ASSERT_EQ(program.Set<uint8_t>(context, {1, 2}, index), kSuccess);
  }
  ASSERT_EQ(program.Compute(context), kSuccess);
  WitGuest component(program.guest.get());
  const Outcome wrong = component.Tensor({3}, kWitU8, {1, 2, 3});
  ASSERT_TRUE(wrong.ok());
  EXPECT_FALSE(component.Compute(context, {{"x", wrong.rep}}).ok());
  for (const uint32_t index : {0u, 1u}) {
    EXPECT_EQ(program.Call("get_output", {context, index, buffer, 8, buffer}), kInvalidArgument) << index;
  }
}

TEST(Held, AnOutputThatTheBackendRefusesIsNotWanted) {
  const LoggedHost host("");
  AddEchoModel(host.get(), "m", "in x u8 4\nin y u8 4 optional unservable\n");
  EchoProgram program(host.get());
  const uint32_t context = program.NewContext("m");
  ASSERT_EQ(program.Set(context, std::vector<uint8_t>(4)), kSuccess);
  const uint32_t buffer = program.Reserve(4), written = program.Reserve(4);
  EXPECT_EQ(program.Call("wasinn_ext_0.set_output", {context, 1, buffer, 4, written}), kUnsupportedOperation);
  EXPECT_EQ(program.Compute(context), kSuccess);
  EXPECT_EQ(program.Call("get_output", {context, 0, buffer, 4, written}), kSuccess) << "all are wanted, as before";
}

// Only the thread that gets the last place gets a tensor, however others come and go.
TEST(Held, ATensorThatWasMadeIsThere) {
  const LoggedHost host("[limits]\nmax_tensors = 1\n");
  const GuestPtr guest = NewGuest(host.get());
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      WitGuest program(guest.get());
      for (int i = 0; i < 5000; ++i) {
        const Outcome tensor = program.Tensor({1}, kWitU8, {7});
        if (!tensor.ok()) continue;
        ++made;
        ASSERT_EQ(program.Type(tensor.rep), kWitU8);
        ASSERT_EQ(program.DropTensor(tensor.rep), "");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(made, 0);
}

// A file's size is enough to refuse it: reading these would take minutes.
TEST(Held, AFileIsChargedBeforeItIsRead) {
  const LoggedHost host("");
  const TestFolder folder;
  for (const char* name : {"large.onnx", "large"}) {  // recognised by the name, or by the first bytes
    const std::string path = folder.Write(name, EchoModel("in x u8 1\n"));
    std::filesystem::resize_file(path, uint64_t{1} << 40);
    const wasinn_model_options options{.struct_size = sizeof(options),
                                       .path = path.c_str(),
                                       .backend = std::string_view(name) == "large" ? nullptr : "echo"};
    const StatusPtr status(wasinn_host_add_model(host.get(), name, &options));
    ASSERT_EQ(status, nullptr) << wasinn_status_message(status.get());
    EchoProgram program(host.get());
    uint32_t graph = 0;
    EXPECT_EQ(program.LoadWithConfig(name, R"({"shade": "red"})", graph), kTooLarge);
    EXPECT_TRUE(host.log.Contains("1099511627776 more bytes of models")) << ::testing::PrintToString(host.log.lines());
  }
}

TEST(Close, DoesNotWaitForCallsThatWereRefused) {
  const LoggedHost host("");
  const GuestPtr guest = NewGuest(host.get());
  auto inside = std::make_optional<core::Guest::Call>(*guest);
  ASSERT_TRUE(*inside);
  std::thread closing([&] { wasinn_guest_close(guest.get()); });
  for (bool open = true; open;) {
    const core::Guest::Call call(*guest);
    open = static_cast<bool>(call);
  }
  const core::Guest::Call refused(*guest);
  EXPECT_FALSE(refused);
  inside.reset();
  closing.join();  // although `refused` is still there
}

}  // namespace
}  // namespace wasinn::testing
