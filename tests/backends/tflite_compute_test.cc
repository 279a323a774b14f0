// Inferences, and what is said of their tensors.
#include "backends/expect.h"
#include "backends/tflite_options.h"
#include "backends/tflite_writer.h"
#include "check/borrowed.h"

namespace wasinn::test {
namespace {

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
  const Host host;
  ExpectIdentity({host, ReshapeModel(code, {2, 3}, {3, 2}), TfLiteOptions()}, EveryBit(type), {3, 2});
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

TEST(TfLiteSignature, ReportsNamesTypesAndShapes) {
  const Host host;
  const LoadedModel add(host, ModelBytes("add.tflite"), TfLiteOptions());
  ASSERT_EQ(add.info().n_inputs, 2u);
  // In the order of the file, which is the converter's choice.
  EXPECT_THAT((std::vector<std::string>{add.input(0).name, add.input(1).name}), UnorderedElementsAre("a", "b"));
  EXPECT_STREQ(add.output(0).name, "sum");
  EXPECT_STREQ(add.input(0).type_name, "tensor(FLOAT32)");
  ASSERT_EQ(add.output(0).rank, 2);
  EXPECT_EQ(add.output(0).dims[1], 2);
  const LoadedModel scale(host, ModelBytes("scale.tflite"), TfLiteOptions());
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

// x + x, or x * x.
TfLiteGraph Times(int32_t code, const std::string& name) {
  return {.tensors = {{.name = "x", .shape = {2}}, {.name = name, .shape = {2}}},
          .inputs = {0},
          .outputs = {1},
          .operators = {{.code = code,
                         .inputs = {0, 0},
                         .outputs = {1},
                         .options_type = code == kOpAdd ? kAddOptions : kMulOptions}}};
}

TEST(TfLiteSignature, IsChosenByItsKey) {
  const Host host;
  const std::string bytes = WriteTfLite({Times(kOpAdd, "twice"), Times(kOpMul, "squared")}, {"plus", "times"});
  for (const auto& [key, expected] : {std::pair("", 10.F), std::pair("plus", 10.F), std::pair("times", 25.F)}) {
    for (const bool is_guests : {false, true}) {
      LoadOptions options = TfLiteOptions();
      const std::string config = *key == '\0' ? "{}" : R"({"signature": ")" + std::string(key) + "\"}";
      (is_guests ? options.guest_config : options.host_config) = config;
      const LoadedModel model(host, bytes, options);
      EXPECT_STREQ(model.output(0).name, "result");
      EXPECT_THAT(Compute(model, {Floats({2}, {5, 5})}).As<float>(), ElementsAre(expected, expected)) << key;
    }
  }
  LoadOptions options = TfLiteOptions();
  options.host_config = R"({"signature": "minus"})";
  const Result unknown = Model(host, bytes, options).loaded();
  EXPECT_EQ(unknown.code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(unknown.message, HasSubstr("expected one of the model's, 'plus', 'times', found 'minus'"));
}

// An operator of LiteRT, with which litert-torch converts models of PyTorch.
TEST(TfLiteSignature, IsChosenOfAModelOfTheNewestConverter) {
  const Host host;
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6}), factor = Floats({3}, {10, 20, 30});
  const auto computed = [&](const std::string& config) {
    LoadOptions options = TfLiteOptions(ModelPath("signatures.tflite"));
    options.host_config = config;
    const LoadedModel model(host, ModelBytes("signatures.tflite"), options);
    EXPECT_THAT((std::vector<std::string>{model.input(0).name, model.input(1).name, model.output(0).name}),
                ElementsAre("x", "factor", "y"));
    return Compute(model, {x, factor}).As<float>();
  };
  EXPECT_THAT(computed("{}"), ElementsAre(10, 40, 90, 40, 100, 180));
  EXPECT_THAT(host.log(), HasSubstr("the model has the signatures 'mul', 'add': the first"));
  EXPECT_THAT(computed(R"({"signature": "mul"})"), ElementsAre(10, 40, 90, 40, 100, 180));
  EXPECT_THAT(computed(R"({"signature": "add"})"), ElementsAre(11, 22, 33, 14, 25, 36));
}

TEST(TfLiteSignature, MarksWhatIsNoTensorOfNumbersOrStrings) {
  const Host host;
  const std::string bytes =
      WriteTfLite({{.tensors = {{.name = "z", .type = kTfComplex64, .shape = {1}},
                                {.name = "x", .shape = {1}},
                                {.name = "y", .shape = {1}}},
                    .inputs = {0, 1},
                    .outputs = {2, 0},
                    .operators = {{.code = kOpAdd, .inputs = {1, 1}, .outputs = {2}, .options_type = kAddOptions}}}});
  const LoadedModel model(host, bytes, TfLiteOptions());
  EXPECT_NE(model.input(0).flags & WASINN_IO_UNSERVABLE, 0u);
  EXPECT_STREQ(model.input(0).type_name, "tensor(COMPLEX64)");
  Context context(model);
  const Result refused = context.Set(0, {WASINN_DTYPE_U8, {1}, "x"});
  EXPECT_EQ(refused.code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_THAT(refused.message, HasSubstr("COMPLEX64"));
  ASSERT_TRUE(context.Set(1, Floats({1}, {2})));
  ASSERT_TRUE(context.Compute());
  EXPECT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(4));
  wasinn_tensor view = {.struct_size = sizeof(view)};
  EXPECT_EQ(TakeError(host.table().output(context.get(), 1, &view)).code, WASINN_ERROR_UNSUPPORTED_OPERATION);
}

TEST(TfLiteCompute, ServesModelsOfConverters) {
  const Host host;
  for (const bool by_name : {false, true}) {
    for (const auto& [name, value] : {std::pair("sum", 300.0f), {"max", 24.0f}, {"average", 12.0f}}) {
      std::vector<float> values(25);
      for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
      const std::string file = std::string(name) + ".tflite";
      const LoadedModel model(host, ModelBytes(file), TfLiteOptions(by_name ? ModelPath(file) : ""));
      EXPECT_THAT(Compute(model, {Floats({1, 5, 5, 1}, values)}).As<float>(), ElementsAre(value)) << name;
    }
  }
}

TEST(TfLiteCompute, ServesScalarsAndEmptyTensors) {
  const Host host;
  const LoadedModel scalar(host, ReshapeModel(kTfFloat, {}, {1}), TfLiteOptions());
  EXPECT_EQ(scalar.input(0).rank, 0);
  ExpectIdentity(scalar, Floats({}, {3.5f}), {1});
  const LoadedModel empty(host, ReshapeModel(kTfInt32, {0, 3}, {3, 0}), TfLiteOptions());
  ExpectIdentity(empty, {WASINN_DTYPE_I32, {0, 3}, ""}, {3, 0});
}

// y = x * factor, of any number of rows.
class TfLiteScale : public ::testing::Test {
 protected:
  const Host host_;
  const LoadedModel model_{host_, ModelBytes("scale.tflite"), TfLiteOptions()};
  const uint32_t x_ = std::string(model_.input(0).name) == "x" ? 0 : 1;
  Context context_{model_};
};

TEST_F(TfLiteScale, KeepsTheOtherInputsIfAShapeChanges) {
  ASSERT_TRUE(context_.Set(1 - x_, Floats({1, 3}, {2, 2, 2})));  // once
  for (const int64_t rows : {2, 2, 1, 500, 3, 0, 4}) {
    ASSERT_TRUE(context_.Set(x_, Floats({rows, 3}, std::vector<float>(static_cast<size_t>(3 * rows), 1.5f))));
    MustCompute(&context_);
    EXPECT_THAT(MustGet(&context_).dims, ElementsAre(rows, 3));
    EXPECT_THAT(MustGet(&context_).As<float>(), Each(3));
  }
}

TEST_F(TfLiteScale, RefusesAShapeThatTheModelCannotTakeAndGoesOn) {
  ASSERT_TRUE(context_.Set(1 - x_, Floats({1, 3}, {1, 2, 3})));
  ASSERT_TRUE(context_.Set(x_, Floats({2, 5}, std::vector<float>(10))));  // no such factor
  EXPECT_EQ(context_.Compute().code, WASINN_ERROR_INVALID_ARGUMENT);
  ASSERT_TRUE(context_.Set(x_, Floats({1, 3}, {1, 1, 1})));
  MustCompute(&context_);
  EXPECT_THAT(MustGet(&context_).As<float>(), ElementsAre(1, 2, 3));
}

TEST(TfLiteCompute, ShowsItsOwnBuffers) {
  auto&& [host, model, context] = Opened(ModelBytes("add.tflite"), TfLiteOptions());
  const Tensor ones = Floats({2, 2}, {1, 1, 1, 1});
  Compute(&context, {ones, ones});
  const void* shown = context.View(0).data;
  MustCompute(&context);
  EXPECT_EQ(context.View(0).data, shown);
}

TEST(TfLiteTensors, AreReadInPlaceWhereTheyAreAligned) {
  auto&& [host, model, context] = Opened(ModelBytes("add.tflite"), TfLiteOptions());
  const Borrowed lent(Floats({2, 2}, {1, 2, 3, 4}));
  wasinn_tensor tensor = lent.view();
  tensor.data = static_cast<char*>(tensor.data) - 4;
  EXPECT_EQ(context.Bind(0, tensor).code, WASINN_ERROR_UNSUPPORTED_OPERATION);
}

TEST(TfLiteTensors, AreDiscarded) {
  const Host host;
  // Fill: the output's shape is only known after a run.
  const std::string bytes = WriteTfLite({{.tensors = {{.name = "shape", .type = kTfInt32, .shape = {1}},
                                                      {.name = "value", .shape = {}, .data = DataOf<float>({1})},
                                                      {.name = "y", .shape = {1}}},
                                          .inputs = {0},
                                          .outputs = {2},
                                          .operators = {{.code = kOpFill, .inputs = {0, 1}, .outputs = {2}}}}});
  const LoadedModel model(host, bytes, TfLiteOptions());
  EXPECT_EQ(model.output(0).rank, -1);
  Context context(model);
  EXPECT_THAT(Compute(&context, {MakeTensor<int32_t>(WASINN_DTYPE_I32, {1}, {3})}).As<float>(), ElementsAre(1, 1, 1));
  host.table().discard_outputs(context.get());
  wasinn_tensor view = {.struct_size = sizeof(view)};
  EXPECT_EQ(TakeError(host.table().output(context.get(), 0, &view)).code, WASINN_ERROR_INVALID_ARGUMENT);
  MustCompute(&context);
  EXPECT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(1, 1, 1));
}

}  // namespace
}  // namespace wasinn::test
