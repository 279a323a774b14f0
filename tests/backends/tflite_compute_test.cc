// Inferences, against TensorFlow Lite called natively.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/expect.h"
#include "backends/taken.h"
#include "backends/test_host.h"
#include "backends/tflite_native.h"
#include "backends/tflite_writer.h"
#include "check/lent.h"

namespace wasinn::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::vector<float> Counting(int64_t n) {
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(i % 7) - 2.5f);
  return values;
}

// input → Reshape → output: any type as it is.
std::string ReshapeModel(int8_t type, const std::vector<int32_t>& from, const std::vector<int32_t>& to) {
  return WriteTfLite(
      {{.tensors = {{.name = "x", .type = type, .shape = from},
                    {.name = "shape", .type = kTfInt32, .shape = {static_cast<int32_t>(to.size())}, .data = DataOf(to)},
                    {.name = "y", .type = type, .shape = to}},
        .inputs = {0},
        .outputs = {2},
        .operators = {{.code = kOpReshape, .inputs = {0, 1}, .outputs = {2}}}}});
}

struct TfLiteType {
  ElementType type;
  int8_t code;
};

class TfLiteElementTypes : public ::testing::TestWithParam<TfLiteType> {};

TEST_P(TfLiteElementTypes, GoInAndOutAsTheyAre) {
  const auto& [type, code] = GetParam();
  const std::string bytes = ReshapeModel(code, {2, 3}, {3, 2});
  const Tensor in = EveryBit(type);
  const Host host;
  ExpectIdentity(Model(host, bytes, TfLiteOptions()), in, {3, 2}, RunTfLite(bytes, {in}).at(0).bytes);
}

// Each with the format's number for it.
std::vector<TfLiteType> Types() {
  constexpr int8_t kCodes[] = {kTfHalf,  kTfBfloat16, kTfFloat, kTfDouble, kTfUint8, kTfInt8, kTfUint16,
                               kTfInt16, kTfUint32,   kTfInt32, kTfUint64, kTfInt64, kTfBool};
  std::vector<TfLiteType> types;
  for (size_t i = 0; i < std::size(kCodes); ++i) types.push_back({kElementTypes[i], kCodes[i]});
  return types;
}

INSTANTIATE_TEST_SUITE_P(All, TfLiteElementTypes, ::testing::ValuesIn(Types()),
                         [](const auto& type) { return std::string(type.param.type.name); });

TEST(TfLiteSignature, TellsNamesTypesAndShapes) {
  const Host host;
  const Model add(host, ModelBytes("add.tflite"), TfLiteOptions());
  ASSERT_TRUE(add.loaded()) << add.loaded().message;
  ASSERT_EQ(add.info().n_inputs, 2u);
  // In the order of the file, which is the converter's choice.
  EXPECT_THAT((std::vector<std::string>{add.input(0).name, add.input(1).name}), UnorderedElementsAre("a", "b"));
  EXPECT_STREQ(add.output(0).name, "sum");
  EXPECT_STREQ(add.input(0).type_name, "tensor(FLOAT32)");
  ASSERT_EQ(add.output(0).rank, 2);
  EXPECT_EQ(add.output(0).dims[1], 2);
  const Model scale(host, ModelBytes("scale.tflite"), TfLiteOptions());
  ASSERT_TRUE(scale.loaded()) << scale.loaded().message;
  ASSERT_EQ(scale.info().n_inputs, 2u);
  uint32_t x = std::string(scale.input(0).name) == "x" ? 0 : 1;
  ASSERT_EQ(scale.input(x).rank, 2);
  EXPECT_EQ(scale.input(x).dims[0], -1);
  EXPECT_EQ(scale.input(x).dims[1], 3);
  ASSERT_EQ(scale.output(0).rank, 2);
  EXPECT_EQ(scale.output(0).dims[0], -1);
  // Without a signature in the file, tensors have names of their own.
  const Model bare(host, ReshapeModel(kTfFloat, {2, 3}, {6}), TfLiteOptions());
  EXPECT_STREQ(bare.input(0).name, "x");
  EXPECT_STREQ(bare.output(0).name, "y");
}

TEST(TfLiteSignature, MarksWhatIsNoTensorOfNumbers) {
  const Host host;
  const std::string bytes =
      WriteTfLite({{.tensors = {{.name = "words", .type = kTfString, .shape = {1}},
                                {.name = "x", .shape = {1}},
                                {.name = "y", .shape = {1}}},
                    .inputs = {0, 1},
                    .outputs = {2, 0},
                    .operators = {{.code = kOpAdd, .inputs = {1, 1}, .outputs = {2}, .options_type = kAddOptions}}}});
  const Model model(host, bytes, TfLiteOptions());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  EXPECT_NE(model.input(0).flags & WASINN_IO_UNSERVABLE, 0u);
  EXPECT_STREQ(model.input(0).type_name, "tensor(STRING)");
  Context context(model);
  const Result refused = context.Set(0, {WASINN_U8, {1}, "x"});
  EXPECT_EQ(refused.code, WASINN_UNSUPPORTED_OPERATION);
  EXPECT_THAT(refused.message, HasSubstr("STRING"));
  ASSERT_TRUE(context.Set(1, Floats({1}, {2})));
  ASSERT_TRUE(context.Compute());
  EXPECT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(4));
  wasinn_tensor view = {.struct_size = sizeof(view)};
  EXPECT_EQ(TakeError(host.table().output(context.get(), 1, &view)).code, WASINN_UNSUPPORTED_OPERATION);
}

TEST(TfLiteCompute, AsTheExamplesOfOtherRuntimes) {
  const struct {
    const char* model;
    std::vector<int64_t> dims;
    std::vector<std::vector<float>> results;
  } cases[] = {
      {"sum", {1, 5, 5, 1}, {{300}}},
      {"max", {1, 5, 5, 1}, {{24}}},
      {"average", {1, 5, 5, 1}, {{12}}},
      {"mult_dimension", {1, 3, 3, 1}, {{0, 1, 2, 3, 4, 5, 6, 7, 8}}},
      {"mult_outputs", {1, 4, 4, 1}, {{24, 28, 32, 36}, {6, 7, 8, 9}}},
  };
  const Host host;
  for (const auto& [name, dims, results] : cases) {
    std::vector<float> values(static_cast<size_t>(dims[1] * dims[2]));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    const std::string bytes = ModelBytes(std::string(name) + ".tflite");
    const Model model(host, bytes, TfLiteOptions());
    ASSERT_TRUE(model.loaded()) << name << ": " << model.loaded().message;
    Context context(model);
    ASSERT_TRUE(context.Set(0, Floats(dims, values)));
    ASSERT_TRUE(context.Compute());
    const auto native = RunTfLite(bytes, {Floats(dims, values)});
    ASSERT_EQ(native.size(), results.size());
    for (uint32_t i = 0; i < results.size(); ++i) {
      const Tensor out = MustGet(&context, i);
      EXPECT_EQ(out.bytes, native[i].bytes) << name;
      EXPECT_EQ(out.dims, native[i].dims) << name;
      const bool columns = std::string(model.output(i).name) == "columns";
      EXPECT_EQ(out.As<float>(), results.size() == 1 ? results[0] : results[columns ? 0 : 1]) << name;
    }
  }
}

TEST(TfLiteCompute, ByNameAsFromBytes) {
  const Host host;
  const std::string bytes = ModelBytes("sum.tflite");
  const Model model(host, bytes, TfLiteOptions(ModelPath("sum.tflite")));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  const Tensor in = Floats({1, 5, 5, 1}, Counting(25));
  ASSERT_TRUE(context.Set(0, in));
  ASSERT_TRUE(context.Compute());
  EXPECT_EQ(MustGet(&context, 0).bytes, RunTfLite(bytes, {in}).at(0).bytes);
}

TEST(TfLiteCompute, ServesScalarsAndEmptyTensors) {
  const Host host;
  const Model scalar(host, ReshapeModel(kTfFloat, {}, {1}), TfLiteOptions());
  ASSERT_TRUE(scalar.loaded()) << scalar.loaded().message;
  EXPECT_EQ(scalar.input(0).rank, 0);
  Context one(scalar);
  ASSERT_TRUE(one.Set(0, Floats({}, {3.5f})));
  ASSERT_TRUE(one.Compute());
  EXPECT_THAT(MustGet(&one, 0).As<float>(), ElementsAre(3.5f));

  const Model empty(host, ReshapeModel(kTfInt32, {0, 3}, {3, 0}), TfLiteOptions());
  ASSERT_TRUE(empty.loaded()) << empty.loaded().message;
  Context none(empty);
  ASSERT_TRUE(none.Set(0, {WASINN_I32, {0, 3}, ""}));
  const Result computed = none.Compute();
  ASSERT_TRUE(computed) << computed.message;
  EXPECT_THAT(MustGet(&none, 0).dims, ElementsAre(3, 0));
  EXPECT_TRUE(MustGet(&none, 0).bytes.empty());
}

TEST(TfLiteCompute, KeepsTheOtherInputsWhereAShapeChanges) {
  const Host host;
  const std::string bytes = ModelBytes("scale.tflite");
  const Model model(host, bytes, TfLiteOptions());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  const uint32_t x = std::string(model.input(0).name) == "x" ? 0 : 1;
  Context context(model);
  const Tensor factor = Floats({1, 3}, {1, 10, 100});
  ASSERT_TRUE(context.Set(1 - x, factor));  // once
  for (const int64_t rows : {2, 2, 1, 500, 3, 0, 4}) {
    const Tensor in = Floats({rows, 3}, Counting(3 * rows));
    ASSERT_TRUE(context.Set(x, in));
    const Result computed = context.Compute();
    ASSERT_TRUE(computed) << rows << ": " << computed.message;
    const Tensor out = MustGet(&context, 0);
    EXPECT_EQ(out.dims, in.dims);
    std::vector<Tensor> inputs(2);
    inputs[x] = in;
    inputs[1 - x] = factor;
    if (rows > 0) {
      EXPECT_EQ(out.bytes, RunTfLite(bytes, inputs).at(0).bytes) << rows;
    }
  }
}

TEST(TfLiteCompute, RefusesAShapeThatTheModelCannotTakeAndGoesOn) {
  const Host host;
  const Model model(host, ModelBytes("scale.tflite"), TfLiteOptions());
  const uint32_t x = std::string(model.input(0).name) == "x" ? 0 : 1;
  Context context(model);
  ASSERT_TRUE(context.Set(1 - x, Floats({1, 3}, {1, 2, 3})));
  ASSERT_TRUE(context.Set(x, Floats({2, 5}, Counting(10))));  // no such factor
  EXPECT_EQ(context.Compute().code, WASINN_INVALID_ARGUMENT);
  ASSERT_TRUE(context.Set(x, Floats({1, 3}, {1, 1, 1})));
  const Result computed = context.Compute();
  ASSERT_TRUE(computed) << computed.message;
  EXPECT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(1, 2, 3));
}

TEST(TfLiteCompute, ShowsItsOwnBuffers) {
  const Host host;
  const Model model(host, ModelBytes("add.tflite"), TfLiteOptions());
  Context context(model);
  const Tensor ones = Floats({2, 2}, {1, 1, 1, 1});
  ASSERT_TRUE(context.Set(0, ones));
  ASSERT_TRUE(context.Set(1, ones));
  wasinn_tensor before = {.struct_size = sizeof(before)};
  EXPECT_EQ(TakeError(host.table().output(context.get(), 0, &before)).code, WASINN_INVALID_ARGUMENT);
  ASSERT_TRUE(context.Compute());
  const void* shown = context.View(0).data;
  ASSERT_TRUE(context.Compute());
  EXPECT_EQ(context.View(0).data, shown);
}

TEST(TfLiteTensors, AreReadInPlaceWhereTheyAreAligned) {
  const Host host;
  const Model model(host, ModelBytes("add.tflite"), TfLiteOptions());
  Context context(model);
  const Lent lent(Floats({2, 2}, {1, 2, 3, 4}));
  wasinn_tensor tensor = lent.view();
  tensor.data = static_cast<char*>(tensor.data) - 4;
  EXPECT_EQ(context.Bind(0, tensor).code, WASINN_UNSUPPORTED_OPERATION);
}

TEST(TfLiteTensors, AreDiscarded) {
  const Host host;
  // Fill: only a run tells the output's shape.
  const std::string bytes = WriteTfLite({{.tensors = {{.name = "shape", .type = kTfInt32, .shape = {1}},
                                                      {.name = "value", .shape = {}, .data = DataOf<float>({1})},
                                                      {.name = "y", .shape = {1}}},
                                          .inputs = {0},
                                          .outputs = {2},
                                          .operators = {{.code = kOpFill, .inputs = {0, 1}, .outputs = {2}}}}});
  const Model model(host, bytes, TfLiteOptions());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  EXPECT_EQ(model.output(0).rank, -1);
  Context context(model);
  ASSERT_TRUE(context.Set(0, MakeTensor<int32_t>(WASINN_I32, {1}, {3})));
  ASSERT_TRUE(context.Compute());
  EXPECT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(1, 1, 1));
  host.table().discard_outputs(context.get());
  wasinn_tensor view = {.struct_size = sizeof(view)};
  EXPECT_EQ(TakeError(host.table().output(context.get(), 0, &view)).code, WASINN_INVALID_ARGUMENT);
  const Result computed = context.Compute();
  ASSERT_TRUE(computed) << computed.message;
  EXPECT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(1, 1, 1));
}

}  // namespace
}  // namespace wasinn::test
