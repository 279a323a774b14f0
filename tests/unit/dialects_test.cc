// The additions of other engines to wasi_ephemeral_nn, and their differences.
#include "support/echo.h"
#include "support/files.h"

namespace wasinn::testing {
namespace {

constexpr char kTwoFloats[] = "in x f32 2\n";

class Dialects : public ::testing::Test {
 protected:
  uint32_t LoadWithConfig(std::string_view config, uint32_t& graph, std::string_view name = "m") {
    return program_.LoadWithConfig(name, config, graph);
  }
  uint32_t Context(uint32_t graph) {
    uint32_t context = 0;
    EXPECT_EQ(program_.InitContext(graph, context), kSuccess);
    return context;
  }
  Log log_;
  HostPtr host_ = EchoHost(log_, "log.level = \"info\"\n");
  EchoProgram program_{host_.get()};

  void SetUp() override { AddEchoModel(host_.get(), "m", kTwoFloats); }
};

TEST_F(Dialects, AConfigurationOfTheGuest) {
  uint32_t graph = 0;
  EXPECT_EQ(LoadWithConfig(R"({"shade": 3})", graph), kSuccess);
  EXPECT_GT(program_.Stats().model_bytes, 0u) << "it is this guest's own";
  EXPECT_THAT(program_.Text("wasinn_ext_0.describe", {graph}), HasSubstr(R"({"shade":3})"));
  EXPECT_THAT(program_.Infer(Context(graph), {1, 2}), ElementsAre(1, 2));
}

TEST_F(Dialects, NoConfigurationSharesTheModel) {
  uint32_t one = 0, two = 0;
  EXPECT_EQ(LoadWithConfig("", one), kSuccess);
  EXPECT_EQ(LoadWithConfig("", two), kSuccess);
  EXPECT_EQ(CompilesOf(host_), 1u);
  EXPECT_EQ(program_.Stats().model_bytes, 0u);
}

TEST_F(Dialects, AConfigurationThatAGuestMayNotHave) {
  uint32_t graph = 0;
  for (const char* config : {"{", "3", "[]", R"({"colour": 1})", R"({"missing": 1})", R"({"nothing": 1})", "\xff"}) {
    EXPECT_EQ(LoadWithConfig(config, graph), kInvalidArgument) << config;
  }
  EXPECT_EQ(LoadWithConfig(R"({"shade": 1})", graph, "nobody"), kNotFound);
  EXPECT_EQ(LoadWithConfig(std::string(300 << 10, ' '), graph), kTooLarge);
  const uint32_t out = program_.Reserve(4);
  EXPECT_EQ(program_.Call("load_by_name_with_config", {program_.Put("m"), 1, UINT32_MAX, 8, out}), kInvalidArgument);
  EXPECT_EQ(program_.Stats().model_bytes, 0u);
  EXPECT_EQ(program_.Stats().graphs, 0u);
  EXPECT_THAT(program_.Infer(program_.NewContext("m"), {1, 2}), ElementsAre(1, 2));
}

// Keys that a guest may set for any backend.
TEST_F(Dialects, KeysThatMeanTheSameEverywhere) {
  AddEchoModel(host_.get(), "two", "in x f32 2\nin y f32 1\n");
  uint32_t graph = 0;
  EXPECT_EQ(LoadWithConfig(R"({"threads": 1, "precision": "f16", "device": "cpu"})", graph, "two"), kSuccess);
  EXPECT_TRUE(log_.Contains("model 'two': backend 'echo' cannot follow a guest's 'threads' for one model"));
  EXPECT_EQ(program_.Stats().model_bytes, 0u) << "nothing of it needs a compile of its own";
  for (const char* config :
       {R"({"threads": 0})", R"({"threads": "2"})", R"({"threads": 1e9})", R"({"precision": "f8"})",
        R"({"precision": 16})", R"({"device": "GPU.1"})", R"({"device": 0})", R"({"outputs": []})",
        R"({"outputs": "x"})", R"({"outputs": [0]})", R"({"outputs": ["z"]})", "{\"outputs\": [\"\xff\"]}"}) {
    EXPECT_EQ(LoadWithConfig(config, graph, "two"), kInvalidArgument) << config;
  }
  EXPECT_EQ(LoadWithConfig(R"({"device": "gpu"})", graph, "two"), kUnsupportedOperation) << "echo has none";
  EXPECT_EQ(program_.Stats().graphs, 1u);
}

TEST_F(Dialects, OutputsOfAConfiguration) {
  AddEchoModel(host_.get(), "two", "in x f32 2\nin y f32 1\n");
  uint32_t graph = 0;
  ASSERT_EQ(LoadWithConfig(R"({"outputs": ["y"]})", graph, "two"), kSuccess);
  EXPECT_EQ(program_.Stats().model_bytes, 0u);
  const uint32_t context = Context(graph), buffer = program_.Reserve(8), written = program_.Reserve(4);
  ASSERT_EQ(program_.Set(context, {1, 2}), kSuccess);
  ASSERT_EQ(program_.Set(context, {3}, 1), kSuccess);
  ASSERT_EQ(program_.Compute(context), kSuccess);
  EXPECT_EQ(program_.Call("get_output", {context, 0, buffer, 8, written}), kInvalidArgument);
  EXPECT_THAT(program_.Output(context, 1), ElementsAre(3));
  AddEchoModel(host_.get(), "late", "in x f32 2\nlate\n");
  EXPECT_EQ(LoadWithConfig(R"({"outputs": ["x"]})", graph, "late"), kUnsupportedOperation);
}

TEST_F(Dialects, ThePolicyHoldsForADevice) {
  const LoggedHost host("policy.targets = [\"cpu\"]\n");
  AddEchoModel(host.get(), "m", kTwoFloats);
  uint32_t graph = 0;
  EXPECT_EQ(EchoProgram(host.get()).LoadWithConfig("m", R"({"device": "gpu"})", graph), kUnsupportedOperation);
  EXPECT_TRUE(host.log.Contains("security: the host's policy does not allow target gpu")) << host.log.Last();
}

TEST_F(Dialects, UnloadFreesTheNameAtOnceAndTheModelWithItsLastContext) {
  uint32_t graph = 0;
  ASSERT_EQ(program_.LoadByName("m", graph), kSuccess);
  const uint32_t context = Context(graph);
  EXPECT_EQ(program_.Call("unload", {graph}), kSuccess);
  uint32_t none = 0;
  EXPECT_EQ(program_.InitContext(graph, none), kInvalidArgument);
  EXPECT_EQ(program_.Call("unload", {graph}), kInvalidArgument);
  EXPECT_THAT(program_.Infer(context, {1, 2}), ElementsAre(1, 2));
  EXPECT_EQ(program_.Finalize(context), kSuccess);
  EXPECT_EQ(program_.Compute(context), kInvalidArgument);
  EXPECT_EQ(program_.Finalize(context), kInvalidArgument);
  EXPECT_EQ(program_.Stats().graphs + program_.Stats().contexts, 0u);
}

TEST_F(Dialects, AModelThatDoesNotGenerate) {
  const uint32_t context = program_.NewContext("m"), buffer = program_.Reserve(8), written = program_.Reserve(4);
  ASSERT_EQ(program_.Set(context, {1, 2}), kSuccess);
  EXPECT_EQ(program_.Call("compute_single", {context}), kUnsupportedOperation);
  EXPECT_EQ(program_.Call("get_output_single", {context, 0, buffer, 8, written}), kInvalidArgument);
  EXPECT_EQ(program_.Call("fini_single", {context}), kSuccess);
  EXPECT_EQ(program_.Call("fini_single", {1}), kInvalidArgument);
}

// Without a dialect 5 and 6 leave it to the bytes; with one, one of them is a format.
TEST_F(Dialects, NumbersOfEncodings) {
  const auto load = [&](const char* dialect, uint32_t encoding) {
    Log log;
    const HostPtr host = EchoHost(log, std::string("policy.dialect = \"") + dialect + "\"\n");
    EchoProgram program(host.get());
    uint32_t graph = 0;
    return program.LoadBytes("\x08\x07no ONNX either", encoding, graph) == kInvalidEncoding && log.Contains("GGUF");
  };
  EXPECT_FALSE(load("witx", 5));  // "what is it?"
  EXPECT_TRUE(load("wasmedge", 6));
  EXPECT_TRUE(load("wamr", 5));
  EXPECT_FALSE(load("wasmedge", 5));
  EXPECT_FALSE(load("wamr", 6));
  uint32_t graph = 0;
  EXPECT_EQ(program_.LoadBytes(EchoModel(kTwoFloats), 7, graph), kInvalidEncoding);
}

TEST_F(Dialects, AModelWithoutItsFileHasANumberOfItsOwnInWasmEdge) {
  for (const auto& [dialect, error] : {std::pair("witx", uint32_t{kNotFound}), {"wasmedge", 103u}}) {
    const HostPtr host = EchoHost(log_, std::string("policy.dialect = \"") + dialect + "\"\n");
    const TestFolder folder;
    const std::string path = folder.Write("m", EchoModel(kTwoFloats));
    const wasinn_model_options options{.struct_size = sizeof(options), .path = path.c_str()};
    ASSERT_EQ(StatusPtr(wasinn_host_add_model(host.get(), "m", &options)), nullptr);
    std::filesystem::remove(path);
    EchoProgram program(host.get());
    uint32_t graph = 0;
    EXPECT_EQ(program.LoadByName("m", graph), error) << log_.Last();
    folder.Write("m", EchoModel(kTwoFloats));
    EXPECT_EQ(program.LoadByName("m", graph), kSuccess) << "it is there again";
  }
}

// Guests on the crate wasi-nn 0.1 to 0.3: type 2 is u8 and 3 is i32, and no error is above 5.
class BeforeWasiNn04 : public Dialects {
 protected:
  struct Program {
    Log log;
    HostPtr host;
    EchoProgram program;
    Program(const char* dialect)
        : host(EchoHost(log, std::string("policy.dialect = \"") + dialect + "\"\n")), program(host.get()) {
      AddEchoModel(host.get(), "bytes", "in x u8 4\n");
      AddEchoModel(host.get(), "tokens", "in x i32 1,4\n");
    }
    // A tensor of four elements, with so many bytes.
    uint32_t Set(const char* model, const std::vector<uint32_t>& dims, uint8_t type, uint32_t size) {
      const uint32_t context = program.NewContext(model), data = program.PutAll<uint32_t>({1, 2, 3, 4, 5, 6, 7, 8});
      return program.Call("set_input", {context, 0, program.PutTensor(dims, type, data, size)});
    }
  };
};

TEST_F(BeforeWasiNn04, TheirNumbersAreADialect) {
  Program old("witx-0.1");
  EXPECT_EQ(old.Set("bytes", {4}, 2, 4), kSuccess) << old.log.Last();
  EXPECT_EQ(old.Set("tokens", {1, 4}, 3, 16), kSuccess) << old.log.Last();
  EXPECT_EQ(old.Set("tokens", {1, 4}, 4, 16), kInvalidArgument);
  EXPECT_TRUE(old.log.Contains("4 is not a tensor type"));
  EXPECT_EQ(old.Set("tokens", {1, 4}, 2, 4), kInvalidArgument);
  EXPECT_TRUE(old.log.Contains("takes i32 [1, 4], given u8 [1, 4]"));
  EXPECT_FALSE(old.log.Contains("before 0.4")) << "it is set already";
}

TEST_F(BeforeWasiNn04, AnErrorThatTheyDoNotKnowIsARuntimeError) {
  Program old("witx-0.1"), today("witx");
  uint32_t graph = 0;
  EXPECT_EQ(today.program.LoadByName("none", graph), kNotFound);
  EXPECT_EQ(old.program.LoadByName("none", graph), kRuntimeError);
  EXPECT_EQ(old.program.LoadBytes("nothing", 7, graph), kInvalidEncoding) << "which they know";
}

TEST_F(BeforeWasiNn04, InOtherDialectsTheMessageGuessesThemByTheBytes) {
  for (const char* dialect : {"witx", "wasmedge", "wamr"}) {
    Program today(dialect);
    EXPECT_EQ(today.Set("tokens", {1, 4}, 3, 16), kInvalidArgument);
    EXPECT_TRUE(
        today.log.Contains("takes i32 [1, 4], given u8 [1, 4]; its 16 bytes are as many as i32 [1, 4] takes: was "
                           "the guest built with wasi-nn before 0.4? --dialect witx-0.1"))
        << today.log.Last();
    EXPECT_EQ(today.Set("bytes", {4}, 2, 4), kInvalidArgument);
    EXPECT_TRUE(today.log.Contains("its 4 bytes are as many as u8 [4] takes")) << today.log.Last();
    EXPECT_EQ(today.Set("bytes", {4}, 3, 16), kInvalidArgument) << "too many bytes for u8, as many as i32 takes";
    EXPECT_TRUE(today.log.Contains("its 16 bytes are as many as i32 [4] takes")) << today.log.Last();
  }
}

TEST_F(BeforeWasiNn04, NothingIsGuessedWhenTheBytesFitNeither) {
  Program today("witx");
  EXPECT_EQ(today.Set("tokens", {1, 4}, 3, 4), kInvalidArgument);   // u8, and so many bytes
  EXPECT_EQ(today.Set("tokens", {1, 4}, 3, 12), kInvalidArgument);  // neither
  EXPECT_EQ(today.Set("tokens", {1, 4}, 1, 16), kInvalidArgument);  // f32 in both
  EXPECT_FALSE(today.log.Contains("before 0.4")) << today.log.Last();
}

// WAMR's first header: its own layouts of builders, tensors and sizes.
class Legacy : public Dialects {
 protected:
  uint32_t Load(uint32_t target, uint32_t& graph) {
    const std::string model = EchoModel("in x f32 2\nin q u8 any\n");
    const uint32_t builder = program_.PutAll<uint32_t>({program_.Put(model), static_cast<uint32_t>(model.size())});
    const uint32_t out = program_.Reserve(4);
    const uint32_t error = program_.Call("wasi_nn.load", {program_.PutAll<uint32_t>({builder, 1}), 5, target, out});
    graph = program_.Read<uint32_t>(out);
    return error;
  }
  uint32_t NewContext() {
    uint32_t graph = 0;
    const uint32_t out = program_.Reserve(4);
    EXPECT_EQ(Load(0, graph), kSuccess);
    EXPECT_EQ(program_.Call("wasi_nn.init_execution_context", {graph, out}), kSuccess);
    return program_.Read<uint32_t>(out);
  }
  uint32_t Set(uint32_t context, uint32_t index, const std::vector<uint32_t>& dims, uint32_t type, uint32_t data) {
    const uint32_t record = program_.PutAll<uint32_t>({program_.PutAll(dims), static_cast<uint32_t>(dims.size())});
    return program_.Call("wasi_nn.set_input", {context, index, program_.PutAll<uint32_t>({record, type, data})});
  }
};

TEST_F(Legacy, AnInference) {
  const uint32_t context = NewContext();
  EXPECT_EQ(Set(context, 0, {2}, 1, program_.PutAll<float>({3, 4})), kSuccess);
  EXPECT_EQ(Set(context, 1, {3}, 2, program_.Put("abc")), kSuccess);  // 2 is u8 here, f64 in witx
  EXPECT_EQ(program_.Call("wasi_nn.compute", {context}), kSuccess);
  // Sizes count elements.
  const uint32_t buffer = program_.Reserve(16), size = program_.PutAll<uint32_t>({4});
  EXPECT_EQ(program_.Call("wasi_nn.get_output", {context, 0, buffer, size}), kSuccess);
  EXPECT_EQ(program_.Read<uint32_t>(size), 2u);
  EXPECT_EQ(program_.Read<float>(buffer + 4), 4.f);
  const uint32_t small = program_.PutAll<uint32_t>({1});
  EXPECT_EQ(program_.Call("wasi_nn.get_output", {context, 0, buffer, small}), kTooLarge);
  EXPECT_EQ(program_.Read<uint32_t>(small), 2u);
  EXPECT_EQ(program_.Call("wasi_nn.get_output", {context, 1, buffer, size}), kTooLarge);
  EXPECT_EQ(program_.Read<uint32_t>(size), 3u);
  EXPECT_EQ(program_.Call("wasi_nn.get_output", {context, 1, buffer, size}), kSuccess);
  EXPECT_EQ(program_.Read<uint32_t>(size), 3u);
}

TEST_F(Legacy, TargetsAreThoseOfTheOtherModule) {
  uint32_t graph = 0;
  EXPECT_EQ(Load(3, graph), kSuccess);  // auto
  EXPECT_EQ(Load(4, graph), kInvalidArgument);
}

// One byte is the type, and what is behind it is whatever the guest's stack had there.
TEST_F(Legacy, TypesOfOneByte) {
  const uint32_t context = NewContext(), data = program_.PutAll<float>({3, 4});
  EXPECT_EQ(Set(context, 0, {2}, 71425, data), kSuccess);  // 0x11701
  EXPECT_EQ(Set(context, 0, {2}, 0xffffff01, data), kSuccess);
  EXPECT_EQ(Set(context, 0, {2}, 0xffffff04, data), kInvalidArgument);
}

TEST_F(Legacy, BadPointersAndShapes) {
  const uint32_t out = program_.Reserve(4), end = static_cast<uint32_t>(program_.memory().size());
  const uint32_t context = NewContext(), data = program_.PutAll<float>({3, 4});
  EXPECT_EQ(Set(context, 0, {2}, 4, data), kInvalidArgument);
  EXPECT_EQ(Set(context, 0, {1u << 30, 1u << 30, 1u << 30}, 1, data), kInvalidArgument);
  EXPECT_EQ(Set(context, 0, {1u << 31}, 1, data), kInvalidArgument);
  EXPECT_EQ(Set(context, 0, {2}, 1, end - 4), kInvalidArgument);
  EXPECT_EQ(program_.Call("wasi_nn.set_input", {context, 0, program_.PutAll<uint32_t>({end - 4, 1, data})}),
            kInvalidArgument);
  EXPECT_EQ(program_.Call("wasi_nn.set_input", {context, 0, end - 8}), kInvalidArgument);
  for (const uint32_t rank : {1u << 30, UINT32_MAX}) {
    const uint32_t many = program_.PutAll<uint32_t>({data, rank});
    EXPECT_EQ(program_.Call("wasi_nn.set_input", {context, 0, program_.PutAll<uint32_t>({many, 1, data})}),
              kInvalidArgument)
        << rank;
  }
  EXPECT_EQ(program_.Call("wasi_nn.load", {end - 4, 5, 0, out}), kInvalidArgument);
  for (const uint32_t count : {1u << 29, UINT32_MAX}) {
    EXPECT_EQ(program_.Call("wasi_nn.load", {program_.PutAll<uint32_t>({data, count}), 5, 0, out}), kTooLarge) << count;
  }
  EXPECT_EQ(program_.Call("wasi_nn.get_output", {context, 0, data, end - 2}), kInvalidArgument);
  ASSERT_EQ(Set(context, 0, {2}, 1, data), kSuccess);
  ASSERT_EQ(Set(context, 1, {3}, 2, data), kSuccess);
  ASSERT_EQ(program_.Call("wasi_nn.compute", {context}), kSuccess);
  for (const uint32_t count : {1u << 30, UINT32_MAX}) {
    EXPECT_EQ(program_.Call("wasi_nn.get_output", {context, 0, data, program_.PutAll<uint32_t>({count})}),
              kInvalidArgument)
        << count;
  }
}

}  // namespace
}  // namespace wasinn::testing
