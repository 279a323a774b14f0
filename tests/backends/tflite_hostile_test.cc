// Models of an attacker, limits, interrupting.
#include "backends/expect.h"
#include "backends/tflite_options.h"
#include "backends/tflite_writer.h"

namespace wasinn::test {
namespace {

// x → operator → y, for operators that are refused whatever their inputs are.
std::string OneOperator(const TfOperator& op) {
  return WriteTfLite({{.tensors = {{.name = "x", .shape = {1}}, {.name = "y", .shape = {1}}},
                       .inputs = {0},
                       .outputs = {1},
                       .operators = {op}}});
}

TEST(TfLiteHostile, CustomOperatorsLoadNothing) {
  const Host host;
  // For these TensorFlow Lite would load _pywrap_tensorflow_internal.so from wherever the linker finds one.
  const std::string flex = OneOperator({.code = kOpCustom, .inputs = {0}, .outputs = {1}, .custom = "FlexReadFile"});
  const Model refused(host, flex, TfLiteOptions());
  EXPECT_EQ(refused.loaded().code, WASINN_ERROR_SECURITY);
  EXPECT_THAT(refused.loaded().message, HasSubstr("FlexReadFile"));
  // For others, TensorFlow Lite reports that it does not know them.
  const std::string unknown = OneOperator({.code = kOpCustom, .inputs = {0}, .outputs = {1}, .custom = "Unheard"});
  for (const LoadOptions& options : {TfLiteOptions(), TfLiteOptions("/models/unknown.tflite")}) {
    const Model model(host, unknown, options);
    EXPECT_EQ(model.loaded().code, WASINN_ERROR_INVALID_ENCODING);
    EXPECT_THAT(model.loaded().message, HasSubstr("Unheard"));
  }
}

// XNNPACK believes the size that is written, and would compute at address 0.
TEST(TfLiteHostile, HiddenTensorsThatAreHuge) {
  const Host host;
  const auto load = [&](std::vector<int32_t> shape) {
    const TfLiteGraph graph = {
        .tensors = {{.name = "x", .shape = {1, 4}},
                    {.name = "y", .shape = {1, 4}},
                    {.name = "a", .shape = std::move(shape)}},
        .inputs = {0},
        .outputs = {1},
        .operators = {{.code = kOpAdd, .inputs = {0, 0}, .outputs = {2}, .options_type = kAddOptions},
                      {.code = kOpAdd, .inputs = {2, 0}, .outputs = {1}, .options_type = kAddOptions}}};
    LoadOptions options = TfLiteOptions();
    options.max_bytes = 1 << 30;
    return Model(host, WriteTfLite({graph}), options).loaded().code;
  };
  EXPECT_EQ(load({1, 4}), WASINN_OK);
  EXPECT_EQ(load({1 << 30, 4}), WASINN_ERROR_TOO_LARGE);
  EXPECT_EQ(load({INT32_MAX, INT32_MAX, INT32_MAX, 4}), WASINN_ERROR_TOO_LARGE);
}

TEST(TfLiteCancel, EndsAnEndlessCompute) {
  auto&& [host, model, context] = Opened(WriteTfLite({Loop(1, 2), kAlways, kGoOn}), TfLiteOptions());
  ASSERT_TRUE(context.Set(0, Floats({1}, {0})));
  ExpectCancellable(&context);
}

TEST(TfLiteLimits, MemoryOfAComputeIsCheckedBeforeItIsTouched) {
  const Host host;
  const std::vector<int32_t> to = {1 << 20, 256};  // 1 GiB, in one value between input and output
  const std::string bytes =
      WriteTfLite({{.tensors = {{.name = "x", .shape = {1, 1}},
                                {.name = "shape", .type = kTfInt32, .shape = {2}, .data = DataOf(to)},
                                {.name = "large", .shape = to},
                                {.name = "dims", .type = kTfInt32, .shape = {2}}},
                    .inputs = {0},
                    .outputs = {3},
                    .operators = {{.code = 130 /* BROADCAST_TO */, .inputs = {0, 1}, .outputs = {2}, .version = 2},
                                  {.code = kOpShape,
                                   .inputs = {2},
                                   .outputs = {3},
                                   .options_type = 55 /* ShapeOptions */,
                                   .options = {kTfInt32}}}}});
  const LoadedModel model(host, bytes, TfLiteOptions());
  Context context(model, 1 << 20);
  ASSERT_TRUE(context.Set(0, Floats({1, 1}, {1})));
  for (int i = 0; i < 2; ++i) {
    const Result computed = context.Compute();
    EXPECT_EQ(computed.code, WASINN_ERROR_TOO_LARGE) << computed.message;
  }
}

TEST(TfLiteTooNew, SaysWhatIsReadAndWhatToDo) {
  const Host host;
  const auto loaded = [&](const std::string& bytes) { return Model(host, bytes, TfLiteOptions()).loaded(); };
  const TfLiteGraph graph = {.tensors = {{.name = "x", .shape = {2}}, {.name = "y", .type = kTfInt32, .shape = {1}}},
                             .inputs = {0},
                             .outputs = {1},
                             .operators = {{.code = kOpShape,
                                            .inputs = {0},
                                            .outputs = {1},
                                            .options_type = 55 /* ShapeOptions */,
                                            .options = {kTfInt32},
                                            .version = 99}}};
  const auto advises = AllOf(HasSubstr("newer than TensorFlow Lite "), HasSubstr("or convert the model again"));
  EXPECT_THAT(loaded(WriteTfLite({graph}, {}, 99)).message,
              AllOf(HasSubstr("version 99"), HasSubstr("supported version 3"), advises));
  EXPECT_THAT(loaded(WriteTfLite({graph}, {}, 2)).message, ::testing::Not(HasSubstr("newer than"))) << "it is older";
  EXPECT_THAT(loaded(WriteTfLite({graph})).message, AllOf(HasSubstr("'SHAPE' version '99'"), advises));
}

TEST(TfLiteLimits, InputsOfAModelAreCheckedBeforeItIsPrepared) {
  const Host host;
  const std::string bytes =
      WriteTfLite({{.tensors = {{.name = "x", .shape = {1 << 20, 1 << 10}}}, .inputs = {0}, .outputs = {0}}});
  LoadOptions options = TfLiteOptions();
  options.max_bytes = 1 << 26;
  const Model model(host, bytes, options);
  EXPECT_EQ(model.loaded().code, WASINN_ERROR_TOO_LARGE) << model.loaded().message;
}

// A window of 5 x 5 over x, from which nothing hangs over.
TfLiteGraph Convolution(const std::vector<int32_t>& input, const std::vector<int32_t>& signature) {
  return {.tensors = {{.name = "x", .shape = input, .signature = signature},
                      {.name = "filter", .shape = {1, 5, 5, 1}, .data = DataOf(std::vector<float>(25, 1))},
                      {.name = "bias", .shape = {1}, .data = DataOf<float>({0})},
                      {.name = "y", .shape = {1, 1, 1, 1}}},
          .inputs = {0},
          .outputs = {3},
          .operators = {{.code = kOpConv,
                         .inputs = {0, 1, 2},
                         .outputs = {3},
                         .options_type = kConvOptions,
                         .options = {1 /* VALID */, 1, 1}}}};
}
Tensor Ones(int64_t rows) { return Floats({1, rows, 5, 1}, std::vector<float>(static_cast<size_t>(5 * rows), 1)); }

// TensorFlow Lite itself divides by zero in these.
TEST(TfLiteHostile, WindowsThatDoNotFitAreRefused) {
  const Host host;
  for (const auto& dims : {std::vector<int32_t>{1, 4, 5, 1}, {1, 5, 3, 1}, {1, 5, 5, 0}, {1, 5, 5, 254}}) {
    const Model model(host, WriteTfLite({Convolution(dims, {})}), TfLiteOptions());
    EXPECT_FALSE(model.loaded()) << ::testing::PrintToString(dims);
  }
  // And if the guest chooses the shape: even next to an operator of a maker's own, which is for a delegate, and of which
  // the CPU knows nothing. One that nothing runs ends no check.
  const TfLiteGraph open = Convolution({1, 5, 5, 1}, {1, -1, -1, 1});
  const TfLiteGraph custom = {.tensors = {{.name = "a", .shape = {1}}, {.name = "b", .shape = {1}}},
                              .inputs = {0},
                              .outputs = {1},
                              .operators = {{.code = kOpCustom, .inputs = {0}, .outputs = {1}, .custom = "Unheard"}}};
  for (const auto& [graphs, path] : {std::pair(std::vector{open}, "/models/sum.tflite"), {{open, custom}, ""}}) {
    const LoadedModel model(host, WriteTfLite(graphs), TfLiteOptions(path));
    Context context(model);
    ASSERT_TRUE(context.Set(0, Ones(4)));
    EXPECT_EQ(context.Compute().code, WASINN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(Compute(&context, {Ones(6)}).As<float>()[1], 25);
  }
}

// Guests' inputs to a model of the host's may be too much for TensorFlow Lite: the host gets an error.
TEST(TfLiteHostile, NamedModelsThatTrustTheirInputsAreWarnedOf) {
  const auto division = [](int32_t code, int8_t type, const std::string& divisor) {
    return WriteTfLite({{.tensors = {{.name = "a", .type = type, .shape = {1}},
                                     {.name = "b", .type = type, .shape = {1}, .data = divisor},
                                     {.name = "y", .type = type, .shape = {1}}},
                         .inputs = divisor.empty() ? std::vector<int32_t>{0, 1} : std::vector<int32_t>{0},
                         .outputs = {2},
                         .operators = {{.code = code, .inputs = {0, 1}, .outputs = {2}}}}});
  };
  const std::string filled =
      WriteTfLite({{.tensors = {{.name = "dims", .type = kTfInt32, .shape = {1}}, {.name = "value"}, {.name = "y"}},
                    .inputs = {0, 1},
                    .outputs = {2},
                    .operators = {{.code = kOpFill, .inputs = {0, 1}, .outputs = {2}}}}});
  constexpr int32_t kDiv = 42, kFloorMod = 95;
  const auto warning_of = [](const std::string& bytes, const std::string& path) {
    const Host host;
    const Model model(host, bytes, TfLiteOptions(path));
    EXPECT_TRUE(model.loaded()) << model.loaded().message;
    return host.log();
  };
  const std::string named = "/models/named.tflite";
  EXPECT_THAT(warning_of(filled, named), HasSubstr("warning: shapes in this model depend on values"));
  EXPECT_THAT(warning_of(division(kDiv, kTfInt32, ""), named), HasSubstr("divides integers by values"));
  EXPECT_THAT(warning_of(division(kFloorMod, kTfInt64, ""), named), HasSubstr("isolate = true"));
  EXPECT_THAT(warning_of(division(kDiv, kTfInt32, DataOf<int32_t>({3})), named), Not(HasSubstr("isolate")));
  EXPECT_THAT(warning_of(division(kDiv, kTfFloat, ""), named), Not(HasSubstr("isolate")));
  EXPECT_THAT(warning_of(ModelBytes("add.tflite"), named), Not(HasSubstr("isolate")));
  EXPECT_THAT(warning_of(filled, ""), Not(HasSubstr("isolate"))) << "a guest's own";
}

}  // namespace
}  // namespace wasinn::test
