// The backend's description of a model's inputs and outputs.
#include "backends/expect.h"
#include "backends/onnx_writer.h"

namespace wasinn::test {
namespace {

std::vector<int64_t> Dims(const wasinn_io& io) { return {io.dims, io.dims + std::max(io.rank, 0)}; }

// A shape without dimensions is a scalar's; no shape at all may be any.
TEST(OnnxSignature, DistinguishesScalarsFromUnknownRanks) {
  const Host host;
  EXPECT_EQ(LoadedModel(host, ModelBytes("identity_scalar.onnx")).input(0).rank, 0);
  EXPECT_THAT(Dims(LoadedModel(host, ModelBytes("identity_empty.onnx")).input(0)), ElementsAre(0, 3));
  EXPECT_THAT(Dims(LoadedModel(host, ModelBytes("dynamic.onnx")).input(0)), ElementsAre(-1, -1));
  const LoadedModel any(host, ModelOf({.nodes = {Node("Identity", {"x"}, {"y"})},
                                       .inputs = {Value("x", TensorTypeOfAnyRank(kFloat))},
                                       .outputs = {Value("y", TensorTypeOfAnyRank(kFloat))}}));
  EXPECT_EQ(any.input(0).rank, -1);
  EXPECT_EQ(any.output(0).rank, -1);
  EXPECT_STREQ(any.input(0).type_name, "tensor(float)");
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{}, {3}, {1, 3}, {0}}) {
    const size_t n = dims.empty() ? 1 : static_cast<size_t>(dims.back());
    ExpectIdentity(any, Floats(dims, std::vector<float>(n, 2.5f)), dims);
  }
}

// It binds them by name, so the values would be in wrong places, or in none.
TEST(OnnxSignature, RefusesTwoOutputsOfOneName) {
  const Host host;
  const Proto x = Value("x", kFloat, {2}), y = Value("y", kFloat, {2});
  for (const auto& outputs : {std::vector<Proto>{x, x, y}, {y, y}}) {
    const Model model(host, ModelOf({.nodes = {Node("Relu", {"x"}, {"y"})}, .inputs = {x}, .outputs = outputs}));
    EXPECT_EQ(model.loaded().code, WASINN_ERROR_UNSUPPORTED_OPERATION);
    EXPECT_THAT(model.loaded().message, HasSubstr("two outputs called '"));
  }
  const LoadedModel once(host, ModelOf({.nodes = {Node("Relu", {"x"}, {"y"})}, .inputs = {x}, .outputs = {x, y}}));
  Context context(once);
  EXPECT_THAT(Compute(&context, {Floats({2}, {-1, 1})}).As<float>(), ElementsAre(-1, 1));
  EXPECT_THAT(MustGet(&context, 1).As<float>(), ElementsAre(0, 1));
}

TEST(OnnxSignature, PutsInputsWithADefaultLast) {
  const Host host;
  const Graph graph = {.nodes = {Node("Sub", {"x", "offset"}, {"y"})},
                       .constants = {Constant<float>("offset", kFloat, {2}, {10, 20})},
                       .inputs = {Value("offset", kFloat, {2}), Value("x", kFloat, {2})},
                       .outputs = {Value("y", kFloat, {2})}};
  const LoadedModel model(host, ModelOf(graph));
  ASSERT_EQ(model.info().n_inputs, 2u);
  EXPECT_STREQ(model.input(0).name, "x");
  EXPECT_EQ(model.input(0).flags, 0u);
  EXPECT_STREQ(model.input(1).name, "offset");
  EXPECT_EQ(model.input(1).flags, WASINN_IO_OPTIONAL);
}

TEST(OnnxSignature, MarksWhatItCannotServe) {
  const Host host;
  const LoadedModel string(host, ModelBytes("identity_string.onnx"));
  EXPECT_EQ(string.input(0).flags, WASINN_IO_STRINGS);
  EXPECT_EQ(string.input(0).dtype, WASINN_DTYPE_U8);
  EXPECT_STREQ(string.input(0).type_name, "tensor(string)");
  const LoadedModel sequence(host, ModelBytes("sequence_output.onnx"));
  EXPECT_EQ(sequence.input(0).flags, 0u);
  EXPECT_EQ(sequence.output(0).flags, WASINN_IO_UNSERVABLE);
  EXPECT_STREQ(sequence.output(0).type_name, "seq(tensor(float))");
  const Model input(host, ModelBytes("sequence_input.onnx"));
  EXPECT_EQ(input.input(0).flags, WASINN_IO_UNSERVABLE);
}

TEST(OnnxSignature, MarksElementTypesWithoutAWord) {
  const Host host;
  const LoadedModel int4(host, ModelOf({.nodes = {Node("DequantizeLinear", {"x", "scale"}, {"y"})},
                                        .inputs = {Value("x", kInt4, {2}), Value("scale", kFloat, {})},
                                        .outputs = {Value("y", kFloat, {2})}},
                                       21));
  EXPECT_EQ(int4.input(0).flags, WASINN_IO_UNSERVABLE);
  EXPECT_STREQ(int4.input(0).type_name, "tensor(int4)");
  Context context(int4);
  const Result set = context.Set(0, {WASINN_DTYPE_U8, {2}, "ab"});
  EXPECT_EQ(set.code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_THAT(set.message, HasSubstr("tensor(int4)"));
}

// A guest cannot compute with them, but it can carry them: a byte is a byte.
TEST(OnnxSignature, FloatsOfEightBitsAreBytes) {
  const Host host;
  const LoadedModel model(host, ModelOf({.nodes = {Node("Identity", {"x"}, {"y"})},
                                         .inputs = {Value("x", kFloat8, {2})},
                                         .outputs = {Value("y", kFloat8, {2})}},
                                        19));
  EXPECT_EQ(model.input(0).dtype, uint32_t{WASINN_DTYPE_U8});
  EXPECT_STREQ(model.input(0).type_name, "tensor(float8e4m3fn)");
  Context context(model);
  EXPECT_EQ(context.Set(0, {WASINN_DTYPE_U8, {2}, "ab"}).code, WASINN_OK);
}

TEST(OnnxSignature, NamesNestedTypes) {
  const Host host;
  const Proto optional = Proto().Add(9, Proto().Add(1, TensorType(kFloat, {2})));
  const Proto sequence = Proto().Add(4, Proto().Add(1, TensorType(kInt64, {kUnknown})));
  const LoadedModel model(
      host, ModelOf({.nodes = {Node("OptionalHasElement", {"o"}, {"y"}), Node("SequenceLength", {"s"}, {"n"})},
                     .inputs = {Value("o", optional), Value("s", sequence)},
                     .outputs = {Value("y", kBool, {}), Value("n", kInt64, {})}},
                    18));
  EXPECT_STREQ(model.input(0).type_name, "optional(tensor(float))");
  EXPECT_STREQ(model.input(1).type_name, "seq(tensor(int64))");
}

TEST(OnnxSignature, RefusesTooManyDimensions) {
  const Host host;
  const auto identity = [](size_t rank) { return OneNode("Identity", std::vector<int64_t>(rank, 1)); };
  const LoadedModel most(host, identity(WASINN_MAX_RANK));
  const Model more(host, identity(WASINN_MAX_RANK + 1));
  EXPECT_EQ(more.loaded().code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_THAT(more.loaded().message, HasSubstr("33 dimensions"));
}

}  // namespace
}  // namespace wasinn::test
