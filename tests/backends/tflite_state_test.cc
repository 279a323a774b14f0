// The state that a run leaves for the next one, and MediaPipe's operator.
#include "backends/expect.h"
#include "backends/tflite_options.h"
#include "backends/tflite_writer.h"

namespace wasinn::test {
namespace {

constexpr int32_t kOpSvdf = 27, kOpRandomUniform = 148;

// y = relu(x) and what was x before it, which a variable tensor keeps.
TfLiteGraph RememberingGraph() {
  return {.tensors = {{.name = "x", .shape = {1, 1}},
                      {.name = "features", .shape = {1, 1}, .data = DataOf<float>({1})},
                      {.name = "time", .shape = {1, 2}, .data = DataOf<float>({1, 1})},
                      {.name = "state", .shape = {1, 2}, .variable = true},
                      {.name = "y", .shape = {1, 1}}},
          .inputs = {0},
          .outputs = {4},
          .operators = {{.code = kOpSvdf,
                         .inputs = {0, 1, 2, -1, 3},
                         .outputs = {4},
                         .options_type = 6 /* SVDFOptions */,
                         .options = {1}}}};
}
std::string Remembering() { return WriteTfLite({RememberingGraph()}); }

// The same, and n ones.
std::string RememberingAndFilling() {
  TfLiteGraph graph = RememberingGraph();
  graph.tensors.insert(graph.tensors.end(), {{.name = "n", .type = kTfInt32, .shape = {1}},
                                             {.name = "one", .shape = {}, .data = DataOf<float>({1})},
                                             {.name = "ones", .shape = {1}}});
  graph.inputs.push_back(5);
  graph.outputs.push_back(7);
  graph.operators.push_back({.code = kOpFill, .inputs = {5, 6}, .outputs = {7}});
  return WriteTfLite({graph});
}

std::vector<float> Pass(Context* context, float x) {
  EXPECT_TRUE(context->Set(0, Floats({1, 1}, {x})));
  MustCompute(context);
  return MustGet(context, 0).As<float>();
}

TEST(TfLiteState, VariablesBelongToOneContext) {
  for (const char* config : {"{}", R"({"xnnpack": false})"}) {
    const Host host(config);
    const LoadedModel model(host, Remembering(), TfLiteOptions());
    Context beside(model);
    {
      Context gone(model);
      EXPECT_THAT(Pass(&gone, 5), ElementsAre(5));
      EXPECT_THAT(Pass(&beside, 1), ElementsAre(1));
      EXPECT_THAT(Pass(&gone, 2), ElementsAre(7));
    }
    Context after(model);  // in the interpreter of the one that is gone
    EXPECT_THAT(Pass(&after, 3), ElementsAre(3));
    EXPECT_THAT(Pass(&beside, 1), ElementsAre(2));
  }
}

// A component's compute ends with it.
TEST(TfLiteState, GoesOnWhereOutputsAreDiscarded) {
  const int32_t n = 1 << 18;
  for (const char* config : {"{}", R"({"xnnpack": false})"}) {
    const Host host(config);
    const LoadedModel model(host, RememberingAndFilling(), TfLiteOptions());
    Account account;
    Context context(model, 0, "{}", &account);
    ASSERT_TRUE(context.Set(1, MakeTensor<int32_t>(WASINN_DTYPE_I32, {1}, {n})));
    const uint64_t before = account.used;
    EXPECT_THAT(Pass(&context, 5), ElementsAre(5));
    EXPECT_EQ(account.used, before) << "the outputs are the host's to count";
    host.table().discard_outputs(context.get());
    EXPECT_GE(account.used, before + sizeof(float) * n) << "TensorFlow Lite has it still";
    EXPECT_THAT(Pass(&context, 2), ElementsAre(7));
    EXPECT_EQ(account.used, before);
    host.table().discard_outputs(context.get());
    EXPECT_THAT(Pass(&context, 1), ElementsAre(3));
    // If it cannot, the next compute returns an error.
    account.limit = account.used;
    host.table().discard_outputs(context.get());
    EXPECT_EQ(account.used, before);
    const Result lost = context.Compute();
    EXPECT_EQ(lost.code, WASINN_ERROR_TOO_LARGE);
    EXPECT_THAT(lost.message, HasSubstr("lost its state"));
    EXPECT_THAT(Pass(&context, 2), ElementsAre(2));
  }
}

// Such numbers cannot be set back.
TEST(TfLiteState, RandomNumbersBeginAnew) {
  const Host host;
  const TfOperator random = {
      .code = kOpRandomUniform, .inputs = {0}, .outputs = {1}, .options_type = 113 /* RandomOptions */};
  const std::string bytes =
      WriteTfLite({{.tensors = {{.name = "shape", .type = kTfInt32, .shape = {1}}, {.name = "y", .shape = {4}}},
                    .inputs = {0},
                    .outputs = {1},
                    .operators = {random}}});
  const LoadedModel model(host, bytes, TfLiteOptions());
  const auto draw = [&](Context* context) {
    EXPECT_TRUE(context->Set(0, MakeTensor<int32_t>(WASINN_DTYPE_I32, {1}, {4})));
    MustCompute(context);
    return MustGet(context, 0).bytes;
  };
  std::vector<std::string> firsts;
  for (int i = 0; i < 2; ++i) {
    Context context(model);
    firsts.push_back(draw(&context));
    EXPECT_NE(draw(&context), firsts.back());
  }
}

struct Deconvolution {
  std::vector<int32_t> input = {1, 2, 2, 1}, filter = {1, 2, 2, 1}, bias = {1}, output = {1, 4, 4, 1};
  std::vector<int32_t> options = {1 /* SAME */, 2, 2};

  // x → the operator → y, then y + y.
  std::string Write() const {
    const auto filled = [](const std::vector<int32_t>& shape, float value) {
      size_t n = 1;
      for (const int32_t dim : shape) n *= static_cast<size_t>(dim);
      return DataOf(std::vector<float>(n, value));
    };
    return WriteTfLite(
        {{.tensors = {{.name = "x", .shape = input},
                      {.name = "filter", .shape = filter, .data = filled(filter, 2)},
                      {.name = "bias", .shape = bias, .data = filled(bias, 1)},
                      {.name = "large", .shape = output},
                      {.name = "y", .shape = output}},
          .inputs = {0},
          .outputs = {4},
          .operators = {{.code = kOpCustom,
                         .inputs = {0, 1, 2},
                         .outputs = {3},
                         .custom = "Convolution2DTransposeBias",
                         .custom_options = DataOf(options)},
                        {.code = kOpAdd, .inputs = {3, 3}, .outputs = {4}, .options_type = kAddOptions}}}});
  }
};

TEST(TfLiteDeconvolution, IsComputedByXnnpack) {
  const Host host;
  for (const char* path : {"", "/models/segment.tflite"}) {  // from a guest, and by name
    const LoadedModel model(host, Deconvolution().Write(), TfLiteOptions(path));
    Context context(model);
    ASSERT_TRUE(context.Set(0, Floats({1, 2, 2, 1}, {1, 2, 3, 4})));
    MustCompute(&context);
    // Each value times the filter, plus the bias, twice.
    EXPECT_THAT(MustGet(&context, 0).As<float>(),
                ElementsAre(6, 6, 10, 10, 6, 6, 10, 10, 14, 14, 18, 18, 14, 14, 18, 18));
  }
}

TEST(TfLiteDeconvolution, SaysWhereXnnpackIsNot) {
  const Host host(R"({"xnnpack": false})");
  for (const char* path : {"", "/models/segment.tflite"}) {
    const Model model(host, Deconvolution().Write(), TfLiteOptions(path));
    EXPECT_EQ(model.loaded().code, WASINN_ERROR_UNSUPPORTED_OPERATION) << path;
    EXPECT_THAT(model.loaded().message, HasSubstr("Convolution2DTransposeBias"));
    EXPECT_THAT(model.loaded().message, HasSubstr("only XNNPACK computes it"));
  }
}

// XNNPACK believes what is written, and would write where there is nothing.
TEST(TfLiteDeconvolution, ThatDoesNotFitIsRefused) {
  const Host host;
  const auto load = [&host](const Deconvolution& made) {
    return Model(host, made.Write(), TfLiteOptions()).loaded().code;
  };
  EXPECT_EQ(load({.output = {1, 3, 4, 1}}), WASINN_OK);  // rounded up
  EXPECT_EQ(load({.options = {2 /* VALID */, 2, 2}}), WASINN_OK);
  EXPECT_EQ(load({.output = {1, 3, 4, 1}, .options = {2, 2, 2}}), WASINN_ERROR_INVALID_ENCODING);
  EXPECT_EQ(load({.output = {1, 5, 4, 1}}), WASINN_ERROR_INVALID_ENCODING);
  EXPECT_EQ(load({.output = {2, 4, 4, 1}}), WASINN_ERROR_INVALID_ENCODING);
  EXPECT_EQ(load({.output = {1, 4, 4, 2}}), WASINN_ERROR_INVALID_ENCODING);
  EXPECT_EQ(load({.filter = {1, 2, 2, 3}}), WASINN_ERROR_INVALID_ENCODING);
  EXPECT_EQ(load({.filter = {1, 1, 1, 1}}), WASINN_ERROR_INVALID_ENCODING);  // a window that leaves gaps
  EXPECT_EQ(load({.bias = {2}}), WASINN_ERROR_INVALID_ENCODING);
  for (const auto& options :
       {std::vector<int32_t>{1, 0, 2}, {1, 2, -2}, {3, 2, 2}, {1, 2}, std::vector<int32_t>(1000, 1)}) {
    EXPECT_EQ(load({.options = options}), WASINN_ERROR_INVALID_ENCODING) << ::testing::PrintToString(options);
  }
}

}  // namespace
}  // namespace wasinn::test
