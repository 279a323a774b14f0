// What a guest holds is what it is charged, whatever a model or a backend says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/guest.h"
#include "support/echo.h"
#include "wit_guest.h"

namespace wasinn::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct HoldingProgram {
  explicit HoldingProgram(wasinn_host* host) : guest(NewGuest(host)), calls(guest.get(), 1 << 20) {}
  uint32_t NewContext(std::string_view name) {
    uint32_t graph = 0, context = 0;
    EXPECT_EQ(calls.LoadByName(name, graph), kSuccess);
    EXPECT_EQ(calls.InitContext(graph, context), kSuccess);
    return context;
  }
  uint32_t SetBytes(uint32_t context, uint32_t bytes) {
    return calls.SetInput(context, 0, {bytes}, kU8, std::vector<uint8_t>(bytes));
  }
  uint64_t tensor_bytes() const {
    wasinn_guest_stats stats{.struct_size = sizeof(stats)};
    wasinn_guest_statistics(guest.get(), &stats);
    return stats.tensor_bytes;
  }
  GuestPtr guest;
  FakeGuest calls;
};

TEST(Held, AnInputThatIsSetSmallerCostsLess) {
  Log log;
  const HostPtr host = EchoHost(log, "[limits]\nmax_tensor_bytes = 1000\n");
  AddEchoModel(host.get(), "m", "in x u8 -1\n");
  HoldingProgram program(host.get());
  const uint32_t context = program.NewContext("m");
  ASSERT_EQ(program.SetBytes(context, 900), kSuccess);
  EXPECT_EQ(program.tensor_bytes(), 900u);
  ASSERT_EQ(program.SetBytes(context, 4), kSuccess);
  EXPECT_EQ(program.tensor_bytes(), 4u);
}

TEST(Held, OutputsThatOutgrowTheirSignatureAreCharged) {
  Log log;
  const HostPtr host = EchoHost(log, "[limits]\nmax_tensor_bytes = 1000\n");
  AddEchoModel(host.get(), "m", "in x u8 1\noutgrows 600\n");
  HoldingProgram program(host.get());
  const uint32_t first = program.NewContext("m"), second = program.NewContext("m");
  for (const uint32_t context : {first, second}) ASSERT_EQ(program.SetBytes(context, 1), kSuccess);
  EXPECT_EQ(program.tensor_bytes(), 4u) << "two inputs, two outputs as the signature has them";
  EXPECT_EQ(program.calls.Call("compute", {first}), kSuccess);
  EXPECT_EQ(program.tensor_bytes(), 603u);
  EXPECT_EQ(program.calls.Call("compute", {second}), kTooLarge);
  EXPECT_EQ(program.tensor_bytes(), 603u) << "and what was refused is discarded";
  const uint32_t buffer = program.calls.Reserve(600), written = program.calls.Reserve(4);
  EXPECT_EQ(program.calls.Call("get_output", {second, 0, buffer, 600, written}), kInvalidArgument);
  EXPECT_EQ(program.calls.Call("get_output", {first, 0, buffer, 600, written}), kSuccess);
  EXPECT_EQ(program.calls.Read<uint32_t>(written), 600u);
  EXPECT_EQ(program.calls.Call("finalize_execution_context", {first}), kSuccess);
  EXPECT_EQ(program.calls.Call("compute", {second}), kSuccess);
}

TEST(Held, AnOutputThatCannotBeTakenStaysCharged) {
  Log log;
  const HostPtr host = EchoHost(log, "");
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

TEST(Held, TakenOutputsAreTheTensors) {
  Log log;
  const HostPtr host = EchoHost(log, "");
  AddEchoModel(host.get(), "m", "in x u8 1\noutgrows 600\n");
  const GuestPtr guest = NewGuest(host.get());
  WitGuest program(guest.get());
  const uint32_t context = program.ContextOf("m");
  const Outcome input = program.Tensor({1}, kWitU8, {7});
  const Outcome computed = program.Compute(context, {{"x", input.rep}});
  ASSERT_TRUE(computed.ok()) << computed;
  EXPECT_EQ(program.stats().tensor_bytes, 601u) << "and the context's own of one byte";
  EXPECT_EQ(program.DropTensor(computed.outputs.at(0).second), "");
  EXPECT_EQ(program.stats().tensor_bytes, 1u);
}

// A compute that begins with other inputs has no outputs of an earlier one, however it ends.
TEST(Held, OutputsGoWithAComputeThatFailsAtItsInputs) {
  Log log;
  const HostPtr host = EchoHost(log);
  AddEchoModel(host.get(), "m", "in x u8 2\nin y u8 -1\n");
  HoldingProgram program(host.get());
  const uint32_t context = program.NewContext("m"), buffer = program.calls.Reserve(8);
  for (const uint32_t index : {0u, 1u}) {
    ASSERT_EQ(program.calls.SetInput(context, index, {2}, kU8, std::vector<uint8_t>{1, 2}), kSuccess);
  }
  ASSERT_EQ(program.calls.Call("compute", {context}), kSuccess);
  WitGuest component(program.guest.get());
  const Outcome wrong = component.Tensor({3}, kWitU8, {1, 2, 3});
  ASSERT_TRUE(wrong.ok());
  EXPECT_FALSE(component.Compute(context, {{"x", wrong.rep}}).ok());
  for (const uint32_t index : {0u, 1u}) {
    EXPECT_EQ(program.calls.Call("get_output", {context, index, buffer, 8, buffer}), kInvalidArgument) << index;
  }
}

TEST(Held, OutputsOfTooManyDimensionsAreRefused) {
  Log log;
  const HostPtr host = EchoHost(log, "");
  AddEchoModel(host.get(), "m", "in x u8 -1\noutranks 33\n");
  HoldingProgram program(host.get());
  const uint32_t context = program.NewContext("m");
  ASSERT_EQ(program.SetBytes(context, 4), kSuccess);
  EXPECT_EQ(program.calls.Call("compute", {context}), kRuntimeError);
  EXPECT_TRUE(log.Contains("the backend shows a tensor of 33 dimensions, more than 32"));
}

TEST(Held, AnOutputThatTheBackendRefusesIsNotWanted) {
  Log log;
  const HostPtr host = EchoHost(log, "");
  AddEchoModel(host.get(), "m", "in x u8 4\nin y u8 4 optional unservable\n");
  HoldingProgram program(host.get());
  const uint32_t context = program.NewContext("m");
  ASSERT_EQ(program.SetBytes(context, 4), kSuccess);
  const uint32_t buffer = program.calls.Reserve(4), written = program.calls.Reserve(4);
  EXPECT_EQ(program.calls.Call("wasinn_ext_0.set_output", {context, 1, buffer, 4, written}), kUnsupportedOperation);
  EXPECT_EQ(program.calls.Call("compute", {context}), kSuccess);
  EXPECT_EQ(program.calls.Call("get_output", {context, 0, buffer, 4, written}), kSuccess)
      << "all are wanted, as before";
}

// Whoever finds the last place free gets a tensor, however others come and go.
TEST(Held, ATensorThatWasMadeIsThere) {
  Log log;
  const HostPtr host = EchoHost(log, "[limits]\nmax_tensors = 1\n");
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
  Log log;
  const HostPtr host = EchoHost(log, "");
  const fs::path folder = fs::path(::testing::TempDir()) / "wasinn-held";
  fs::create_directories(folder);
  for (const char* name : {"large.onnx", "large"}) {  // told by the name, or by the first bytes
    const std::string path = (folder / name).string();
    std::ofstream(path) << EchoModel("in x u8 1\n");
    fs::resize_file(path, uint64_t{1} << 40);
    wasinn_model_options options{};
    options.struct_size = sizeof(options);
    options.path = path.c_str();
    options.backend = "echo";
    if (std::string_view(name) == "large") options.backend = nullptr;
    const StatusPtr status(wasinn_host_add_model(host.get(), name, &options));
    ASSERT_EQ(status, nullptr) << wasinn_status_message(status.get());
    HoldingProgram program(host.get());
    const std::string config = R"({"shade": "red"})";
    const uint32_t out = program.calls.Reserve(4);
    EXPECT_EQ(
        program.calls.Call("load_by_name_with_config", {program.calls.Put(name, std::strlen(name)), std::strlen(name),
                                                        program.calls.Put(config), config.size(), out}),
        kTooLarge);
    EXPECT_TRUE(log.Contains("1099511627776 more bytes of models")) << ::testing::PrintToString(log.lines());
  }
  fs::remove_all(folder);
}

TEST(Close, DoesNotWaitForCallsThatWereRefused) {
  Log log;
  const HostPtr host = EchoHost(log, "");
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
