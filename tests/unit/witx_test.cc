// wasi_ephemeral_nn on a guest without an engine: what each function answers, above all to bad input.
#include <climits>

#include "support/echo.h"

namespace wasinn::testing {
namespace {

class Witx : public ::testing::Test {
 protected:
  uint32_t GetOutput(uint32_t context, uint32_t index, uint32_t buffer, uint32_t size) {
    written_ = program_.Reserve(4);
    return program_.Call("get_output", {context, index, buffer, size, written_});
  }
  // The guest gets its own bytes back: the honest inference that must work after every attack.
  void ExpectInferenceWorks() {
    EXPECT_THAT(program_.Infer(program_.Open("in x f32 2\n"), {1.5f, -2}), ElementsAre(1.5f, -2)) << log_.Last();
  }

  Log log_;
  HostPtr host_ = EchoHost(log_);
  EchoProgram program_{host_.get()};
  uint32_t written_ = 0;
};

TEST_F(Witx, InfersWithOneCopyEachWay) {
  ExpectInferenceWorks();
  const wasinn_statistics stats = program_.Stats();
  EXPECT_EQ(stats.copies_in, 1u);
  EXPECT_EQ(stats.bytes_in, 8u);
  EXPECT_EQ(stats.copies_out, 1u);
  EXPECT_EQ(stats.bytes_out, 8u);
  EXPECT_EQ(stats.computes, 1u);
  EXPECT_EQ(stats.errors, 0u);
}

TEST_F(Witx, LoadAutodetectsAndRefusesOtherBytes) {
  uint32_t graph = 0;
  EXPECT_EQ(program_.LoadBytes(EchoModel("in x f32 2\n"), 6, graph), kSuccess);
  EXPECT_EQ(program_.LoadBytes("neither fish nor fowl", 5, graph), kInvalidEncoding);
  EXPECT_EQ(program_.LoadBytes(EchoModel(""), 1, graph), kInvalidEncoding) << "GGUF is not ONNX";
  EXPECT_TRUE(log_.Contains("a model of encoding ggml, not onnx")) << log_.Last();
  EXPECT_EQ(program_.LoadBytes("", 5, graph), kInvalidEncoding);
  ExpectInferenceWorks();
}

TEST_F(Witx, LoadRefusesUnknownNumbers) {
  uint32_t graph = 0;
  constexpr const char* kWasmEdge[] = {"neuralspeed", "burn",    "whisper",        "mlx",
                                       "piper",       "chattts", "openvino-genai", "bitnet"};
  for (uint32_t encoding = 7; encoding <= 14; ++encoding) {
    EXPECT_EQ(program_.LoadBytes(EchoModel(""), encoding, graph), kInvalidEncoding);
    EXPECT_TRUE(log_.Contains(std::string(" (") + kWasmEdge[encoding - 7] + " in WasmEdge's numbers)")) << log_.Last();
  }
  for (const uint32_t encoding : {15u, 100u, UINT_MAX}) {
    EXPECT_EQ(program_.LoadBytes(EchoModel(""), encoding, graph), kInvalidEncoding);
  }
  const uint32_t builders = program_.PutAll(std::vector<uint32_t>{program_.Put("GGUF\n"), 5}),
                 out = program_.Reserve(4);
  EXPECT_EQ(program_.Call("load", {builders, 1, kGgmlEncoding, 4, out}), kInvalidArgument);
  EXPECT_EQ(program_.Call("load", {builders, 1, kGgmlEncoding, UINT_MAX, out}), kInvalidArgument);
  EXPECT_EQ(program_.Call("load", {builders, 0, kGgmlEncoding, 0, out}), kInvalidArgument) << "no builder";
  EXPECT_EQ(program_.Call("load", {builders, 17, kGgmlEncoding, 0, out}), kTooLarge);
  EXPECT_EQ(program_.Call("load", {builders, UINT_MAX, kGgmlEncoding, 0, out}), kTooLarge);
  ExpectInferenceWorks();
}

TEST_F(Witx, LoadByNameFindsVersionsAndSharesThem) {
  AddEchoModel(host_.get(), "m", "in x f32 2\n");
  uint32_t a = 0, b = 0, c = 0;
  EXPECT_EQ(program_.LoadByName("m", a), kSuccess);
  EXPECT_EQ(program_.LoadByName("m:1", b), kSuccess);
  EXPECT_EQ(program_.LoadByName("m:2", c), kNotFound);
  EXPECT_EQ(program_.LoadByName("M", c), kNotFound);
  EXPECT_EQ(program_.LoadByName("", c), kNotFound);
  EXPECT_EQ(program_.LoadByName("../m", c), kNotFound);
  EXPECT_EQ(program_.LoadByName(std::string(1025, 'x'), c), kTooLarge);
  EXPECT_NE(a, b);
  EXPECT_EQ(CompilesOf(host_), 1u);
}

TEST_F(Witx, RefusesDeadForgedAndWrongHandles) {
  uint32_t graph = 0, context = 0, out = 0;
  ASSERT_EQ(program_.LoadBytes(EchoModel("in x f32 2\n"), kGgmlEncoding, graph), kSuccess);
  ASSERT_EQ(program_.InitContext(graph, context), kSuccess);
  for (const uint32_t forged : {0u, 1u, graph + 1, context + 1, graph ^ 0x10000u, 0x7fffffffu, UINT_MAX}) {
    EXPECT_EQ(program_.InitContext(forged, out), kInvalidArgument) << forged;
    EXPECT_EQ(program_.Compute(forged), kInvalidArgument) << forged;
    EXPECT_EQ(program_.Set(forged, {1, 2}), kInvalidArgument) << forged;
    EXPECT_EQ(GetOutput(forged, 0, program_.Reserve(8), 8), kInvalidArgument) << forged;
  }
  EXPECT_EQ(program_.InitContext(context, out), kInvalidArgument) << "a context is no graph";
  EXPECT_EQ(program_.Compute(graph), kInvalidArgument) << "a graph is no context";
  ExpectInferenceWorks();
}

TEST_F(Witx, RefusesPointersOutsideOfMemory) {
  AddEchoModel(host_.get(), "m", "in x f32 2\n");
  const uint32_t context = program_.Open("in x f32 2\n");
  const auto end = static_cast<uint32_t>(program_.memory().size());
  const uint32_t name = program_.Put("m"), out = program_.Reserve(4), data = program_.Reserve(8);
  const auto refused = [&](const char* what, const char* function, const std::vector<uint64_t>& args) {
    EXPECT_EQ(program_.Call(function, args), kInvalidArgument);
    EXPECT_THAT(log_.Last(),
                AllOf(HasSubstr(std::string(": ") + what + " at 0x"), HasSubstr("is outside of the guest")));
  };
  for (const uint32_t bad : {end - 3, end, UINT_MAX - 3, UINT_MAX}) {
    refused("the place for the result", "load_by_name", {name, 1, bad});
    refused("a model's name", "load_by_name", {bad, 4, out});
    refused("the array of graph builders", "load", {bad, 1, kGgmlEncoding, 0, out});
    refused("the array of graph builders", "load", {bad, 16, kGgmlEncoding, 0, out});
    refused("a graph builder", "load", {program_.PutAll(std::vector<uint32_t>{bad, 4}), 1, kGgmlEncoding, 0, out});
    refused("a tensor", "set_input", {context, 0, bad});
    refused("the data of a tensor", "set_input", {context, 0, program_.PutTensor({2}, kF32, bad, 8)});
    const uint32_t tensor = program_.PutAll(std::vector<uint32_t>{bad, 1, kF32, data, 8});
    refused("the dimensions of a tensor", "set_input", {context, 0, tensor});
    refused("an output buffer", "get_output", {context, 0, bad, 8, out});
    refused("the place for the result", "get_output", {context, 0, data, 8, bad});
  }
  ExpectInferenceWorks();
}

TEST_F(Witx, RefusesLengthsThatOverflow) {
  const uint32_t context = program_.Open("in x f32 -1,-1\n");
  const uint32_t data = program_.Reserve(16), dims = program_.Reserve(16);
  for (const uint32_t rank : {33u, 1u << 30, (1u << 30) + 1, UINT_MAX}) {
    const uint32_t tensor = program_.PutAll(std::vector<uint32_t>{dims, rank, kF32, data, 16});
    EXPECT_EQ(program_.Call("set_input", {context, 0, tensor}), kInvalidArgument) << rank;
  }
  const std::vector<std::vector<uint32_t>> kShapes = {
      {UINT_MAX, UINT_MAX}, {1u << 30, 4}, {1u << 31, 2}, {UINT_MAX, 1}};
  for (const auto& shape : kShapes) {
    EXPECT_EQ(program_.Call("set_input", {context, 0, program_.PutTensor(shape, kF32, data, 16)}), kInvalidArgument);
  }
  EXPECT_EQ(program_.Call("set_input", {context, 0, program_.PutTensor({2, 2}, kF32, data, UINT_MAX)}),
            kInvalidArgument);
  const uint32_t builders = program_.PutAll(std::vector<uint32_t>{data, UINT_MAX}), out = program_.Reserve(4);
  EXPECT_EQ(program_.Call("load", {builders, 1, kGgmlEncoding, 0, out}), kInvalidArgument);
  ExpectInferenceWorks();
}

TEST_F(Witx, SetInputChecksTypeShapeLengthAndIndex) {
  const uint32_t context = program_.Open("in x f32 2,2\n");
  const std::vector<float> four(4), three(3);
  EXPECT_EQ(program_.SetInput(context, 1, {2, 2}, kF32, four), kInvalidArgument);
  EXPECT_EQ(program_.SetInput(context, UINT_MAX, {2, 2}, kF32, four), kInvalidArgument);
  EXPECT_EQ(program_.SetInput(context, 0, {2, 2}, kI32, four), kInvalidArgument);
  EXPECT_EQ(program_.SetInput(context, 0, {4}, kF32, four), kInvalidArgument);
  EXPECT_EQ(program_.SetInput(context, 0, {2, 2}, kF32, three), kInvalidArgument);
  for (const uint8_t type : {6, 7, 255}) {
    EXPECT_EQ(program_.SetInput(context, 0, {2, 2}, type, four), kInvalidArgument) << int{type};
  }
  EXPECT_EQ(program_.SetInput(context, 0, {2, 2}, kF32, four), kSuccess) << log_.Last();
}

TEST_F(Witx, OrderOfCallsIsChecked) {
  const uint32_t context = program_.Open("in x f32 1\nin y f32 1\n");
  const uint32_t buffer = program_.Reserve(4);
  EXPECT_EQ(program_.Compute(context), kInvalidArgument);
  EXPECT_TRUE(log_.Contains("input 0 ('x') was not set")) << log_.Last();
  EXPECT_EQ(GetOutput(context, 0, buffer, 4), kInvalidArgument);
  EXPECT_EQ(program_.Set(context, {3}), kSuccess);
  EXPECT_EQ(program_.Compute(context), kInvalidArgument) << "y is still unset";
  EXPECT_EQ(program_.Set(context, {4}, 1), kSuccess);
  EXPECT_EQ(program_.Set(context, {5, 6}, 1), kInvalidArgument) << "and leaves what was set";
  EXPECT_EQ(program_.Compute(context), kSuccess);
  EXPECT_EQ(program_.Compute(context), kSuccess) << "inputs stay until set again";
  EXPECT_EQ(GetOutput(context, 1, buffer, 4), kSuccess);
  EXPECT_EQ(program_.Read<float>(buffer), 4.f);
  EXPECT_EQ(GetOutput(context, 2, buffer, 4), kInvalidArgument);
}

// A value that was half replaced is not computed on.
TEST_F(Witx, AnInputThatFailedIsUnsetAndHoldsNoMemory) {
  const uint32_t context = program_.Open("in x bool 2\n");
  const uint64_t unset = program_.Stats().tensor_bytes;
  EXPECT_EQ(program_.Set<uint8_t>(context, {0, 1}), kSuccess);
  EXPECT_EQ(program_.Compute(context), kSuccess);
  EXPECT_EQ(program_.Stats().tensor_bytes, unset + 2);
  EXPECT_EQ(program_.Set<uint8_t>(context, {0, 2}), kInvalidArgument) << "2 is no bool";
  EXPECT_EQ(program_.Stats().tensor_bytes, unset);
  EXPECT_EQ(program_.Compute(context), kInvalidArgument);
}

TEST_F(Witx, ATooSmallBufferGetsTheNeededSize) {
  const uint32_t context = program_.Open("in x f32 4\n");
  ASSERT_EQ(program_.Set(context, {1, 2, 3, 4}), kSuccess);
  ASSERT_EQ(program_.Compute(context), kSuccess);
  const uint32_t buffer = program_.PutAll(std::vector<uint32_t>(4, 0xabababab));
  for (const uint32_t size : {0u, 1u, 15u}) {
    EXPECT_EQ(GetOutput(context, 0, buffer, size), kTooLarge);
    EXPECT_EQ(program_.Read<uint32_t>(written_), 16u);
    EXPECT_EQ(program_.Read<uint32_t>(buffer), 0xababababu) << "nothing is copied";
  }
  EXPECT_TRUE(log_.lines().empty()) << "asking for the size is no error";
  EXPECT_EQ(GetOutput(context, 0, buffer, 16), kSuccess);
}

TEST_F(Witx, EmptyTensorsAndScalarsPass) {
  const uint32_t context = program_.Open("in x f32 0,3\nin y i64 scalar\n");
  EXPECT_EQ(program_.SetInput<float>(context, 0, {0, 3}, kF32, {}), kSuccess) << log_.Last();
  EXPECT_EQ(program_.SetInput<int64_t>(context, 1, {}, kI64, {7}), kSuccess) << log_.Last();
  EXPECT_EQ(program_.Compute(context), kSuccess);
  EXPECT_EQ(GetOutput(context, 0, 0, 0), kSuccess);
  EXPECT_EQ(program_.Read<uint32_t>(written_), 0u);
}

TEST_F(Witx, UnservableInputsAreNamed) {
  const uint32_t context = program_.Open("in s unknown any unservable\n");
  EXPECT_EQ(program_.Set(context, {1}), kUnsupportedOperation);
  EXPECT_EQ(program_.Compute(context), kUnsupportedOperation);
  EXPECT_EQ(GetOutput(context, 0, 0, 0), kUnsupportedOperation);
}

TEST_F(Witx, ErrorsOfTheFrameworkKeepTheirCode) {
  uint32_t graph = 0;
  EXPECT_EQ(program_.LoadBytes(EchoModel("fail_load 6\n"), kGgmlEncoding, graph), kUnsupportedOperation);
  const uint32_t context = program_.Open("fail 5\n");
  EXPECT_EQ(program_.Compute(context), kRuntimeError);
  EXPECT_TRUE(log_.Contains("echo: compute fails as the model says")) << log_.Last();
  for (const auto& [code, name] : {std::pair("15", "unavailable"), {"16", "lost"}, {"30", "runtime_error"}}) {
    EXPECT_EQ(program_.Call("compute", {program_.Open(std::string("fail ") + code)}), kRuntimeError) << code;
    EXPECT_TRUE(log_.Contains(std::string(name) + ": echo: compute fails")) << log_.Last();
  }
}

TEST_F(Witx, ErrorsInTheLogStopAtTheLimit) {
  for (int i = 0; i < 500; ++i) EXPECT_EQ(program_.Compute(0), kInvalidArgument);
  EXPECT_EQ(log_.lines().size(), 101u);
  EXPECT_THAT(log_.Last(), HasSubstr("further errors are not logged"));
  EXPECT_EQ(program_.Stats().errors, 500u);
}

TEST_F(Witx, NamesFromGuestsAreEscapedInTheLog) {
  const std::pair<std::string, const char*> kNames[] = {
      {"a\nERROR forged line\x1b[2J", "a\\x0aERROR forged line\\x1b[2J"},
      {{"a\0b", 3}, "a\\x00b"},
      {"\x7f", "\\x7f"},
      {"\x9b", "\\x9b"},                    // no UTF-8
      {"\xc2\x9b", "\\xc2\\x9b"},           // a control character of two bytes
      {"\xe2\x80\xa8", "\\xe2\\x80\\xa8"},  // a line separator
      {"\xe2\x80\xae", "\\xe2\\x80\\xae"},  // text from right to left
  };
  for (const auto& [name, escaped] : kNames) {
    uint32_t graph = 0;
    EXPECT_EQ(program_.LoadByName(name, graph), kNotFound);
    EXPECT_TRUE(log_.Contains(escaped)) << log_.Last();
  }
}

}  // namespace
}  // namespace wasinn::testing
