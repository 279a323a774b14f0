// What a run leaves behind for the next one, memory, and MediaPipe's operator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/driver.h"
#include "backends/expect.h"
#include "backends/taken.h"
#include "backends/tflite_native.h"
#include "backends/tflite_writer.h"

namespace wasinn::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int32_t kOpDequantize = 6, kOpMean = 40, kOpSvdf = 27, kOpRandomUniform = 148;

// y = relu(x) and what was x before it, which a variable tensor keeps.
std::string Remembering() {
  return WriteTfLite({{.tensors = {{.name = "x", .shape = {1, 1}},
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
                                      .options = {1}}}}});
}

std::vector<float> Pass(Context* context, float x) {
  EXPECT_TRUE(context->Set(0, Floats({1, 1}, {x})));
  MustCompute(context);
  return MustGet(context, 0).As<float>();
}

TEST(TfLiteState, VariablesBelongToOneContext) {
  for (const char* config : {"{}", R"({"xnnpack": false})"}) {
    const Host host(config);
    const Model model(host, Remembering(), TfLiteOptions());
    ASSERT_TRUE(model.loaded()) << model.loaded().message;
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

// Nobody can set such numbers back.
TEST(TfLiteState, RandomNumbersBeginAnew) {
  const Host host;
  const TfOperator random = {
      .code = kOpRandomUniform, .inputs = {0}, .outputs = {1}, .options_type = 113 /* RandomOptions */};
  const std::string bytes =
      WriteTfLite({{.tensors = {{.name = "shape", .type = kTfInt32, .shape = {1}}, {.name = "y", .shape = {4}}},
                    .inputs = {0},
                    .outputs = {1},
                    .operators = {random}}});
  const Model model(host, bytes, TfLiteOptions());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  const auto draw = [&](Context* context) {
    EXPECT_TRUE(context->Set(0, MakeTensor<int32_t>(WASINN_I32, {1}, {4})));
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

// The weights, once unpacked, lie in an arena of their own, far from that of the values.
TEST(TfLiteMemory, ArenasAreCountedEachForItself) {
  const int32_t rows = 1 << 10, columns = 1 << 9;  // 2 MiB: malloc gives such a block a place of its own
  const std::string bytes =
      WriteTfLite({{.tensors = {{.name = "x", .shape = {rows, columns}},
                                {.name = "packed", .type = kTfHalf, .shape = {1}, .data = DataOf<uint16_t>({0x3c00})},
                                {.name = "one", .shape = {1}},
                                {.name = "sum", .shape = {rows, columns}},
                                {.name = "y", .shape = {rows, columns}}},
                    .inputs = {0},
                    .outputs = {4},
                    .operators = {{.code = kOpDequantize, .inputs = {1}, .outputs = {2}, .version = 3},
                                  {.code = kOpAdd, .inputs = {0, 2}, .outputs = {3}, .options_type = kAddOptions},
                                  {.code = kOpAdd, .inputs = {3, 2}, .outputs = {4}, .options_type = kAddOptions}}}});
  for (const char* config : {"{}", R"({"xnnpack": false})"}) {
    const Host host(config);
    const Model model(host, bytes, TfLiteOptions());
    ASSERT_TRUE(model.loaded()) << model.loaded().message;
    const Tensor x = Floats({rows, columns}, std::vector<float>(static_cast<size_t>(rows) * columns, 1));
    // x, the sum, y: each of the two MiB.
    Context enough(model, 7 << 20);
    ASSERT_TRUE(enough.Set(0, x));
    const Result computed = enough.Compute();
    EXPECT_TRUE(computed) << config << computed.message;
    EXPECT_EQ(static_cast<const float*>(enough.View(0).data)[0], 3);
    Context less(model, 5 << 20);
    ASSERT_TRUE(less.Set(0, x));
    EXPECT_EQ(less.Compute().code, WASINN_TOO_LARGE) << config;
  }
}

// x → a large value → y.
std::string LargeBetween(int32_t rows, const std::vector<int32_t>& signature = {}) {
  return WriteTfLite({{.tensors = {{.name = "x", .shape = {rows, 1}, .signature = signature},
                                   {.name = "wide", .shape = {1, 1 << 16}, .data = std::string(4 << 16, 0)},
                                   {.name = "large", .shape = {rows, 1 << 16}},
                                   {.name = "axis", .type = kTfInt32, .shape = {1}, .data = DataOf<int32_t>({1})},
                                   {.name = "y", .shape = {rows, 1}}},
                       .inputs = {0},
                       .outputs = {4},
                       .operators = {{.code = kOpAdd, .inputs = {0, 1}, .outputs = {2}, .options_type = kAddOptions},
                                     {.code = kOpMean,
                                      .inputs = {2, 3},
                                      .outputs = {4},
                                      .options_type = 27 /* ReducerOptions */,
                                      .options = {1}}}}});
}

// What the interpreter of each context keeps is its guest's.
TEST(TfLiteMemory, OfContextsIsCharged) {
  const uint64_t large = 16 << 20;
  for (const char* config : {"{}", R"({"xnnpack": false})"}) {
    const Host host(config);
    const Model model(host, LargeBetween(64), TfLiteOptions());
    ASSERT_TRUE(model.loaded()) << model.loaded().message;
    Account account = {.limit = 10 * large};
    const wasinn_context_options options = {.struct_size = sizeof(options), .guest_config = "{}", .account = &account};
    std::vector<wasinn_backend_context*> contexts;
    Result made;
    while (contexts.size() < 256) {
      wasinn_backend_context* context = nullptr;
      made = TakeError(host.table().context_new(model.get(), &options, &context));
      if (!made) break;
      contexts.push_back(context);
    }
    EXPECT_EQ(made.code, WASINN_TOO_LARGE) << made.message;
    EXPECT_GE(contexts.size(), 5u) << config;
    EXPECT_LE(contexts.size(), 10u) << config;
    for (wasinn_backend_context* context : contexts) host.table().context_free(context);
    EXPECT_EQ(account.used, 0u);
  }
}

// What a compute would have needed is not there any more, whoever refused it, and the context is as good as new.
TEST(TfLiteMemory, ThatWasRefusedIsGivenBack) {
  const uint64_t large = 16 << 20;
  for (const char* config : {"{}", R"({"xnnpack": false})"}) {
    const Host host(config);
    const Model model(host, LargeBetween(1, {-1, 1}), TfLiteOptions());
    ASSERT_TRUE(model.loaded()) << model.loaded().message;
    for (const uint64_t max_bytes : {uint64_t{0}, large / 4}) {
      Account account = {.limit = max_bytes == 0 ? large / 4 : UINT64_MAX};
      Context context(model, max_bytes, "{}", &account);
      const auto compute = [&](int64_t rows) {
        EXPECT_TRUE(context.Set(0, Floats({rows, 1}, std::vector<float>(static_cast<size_t>(rows), 2))));
        return context.Compute();
      };
      ASSERT_TRUE(compute(1));
      const uint64_t before = AllocatedBytes(), charged = account.used;
      for (int i = 0; i < 3; ++i) {
        const Result refused = compute(64);
        EXPECT_EQ(refused.code, WASINN_TOO_LARGE) << refused.message;
        EXPECT_LT(AllocatedBytes(), before + large / 4) << config << max_bytes;
        EXPECT_LE(account.used, charged);
      }
      const Result computed = compute(1);
      EXPECT_TRUE(computed) << computed.message;
    }
  }
}

// And it grows with the inputs, once and for all.
TEST(TfLiteMemory, ThatInputsMakeGrowIsCharged) {
  const uint64_t large = 16 << 20;
  const Host host;
  const Model model(host, LargeBetween(1, {-1, 1}), TfLiteOptions());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Account account = {.limit = 3 * large};
  {
    Context context(model, 0, "{}", &account);
    const auto compute = [&](int64_t rows) {
      EXPECT_TRUE(context.Set(0, Floats({rows, 1}, std::vector<float>(static_cast<size_t>(rows), 2))));
      return context.Compute();
    };
    EXPECT_TRUE(compute(1));
    const uint64_t small = account.used;
    EXPECT_LT(small, large / 8);
    const Result grown = compute(64);
    EXPECT_TRUE(grown) << grown.message;
    EXPECT_GE(account.used, large);
    EXPECT_TRUE(compute(1));
    EXPECT_GE(account.used, large) << "TensorFlow Lite has it still";
    EXPECT_EQ(compute(1024).code, WASINN_TOO_LARGE);
    EXPECT_TRUE(compute(64));
    EXPECT_THAT(MustGet(&context, 0).As<float>(), ::testing::Each(2));
  }
  EXPECT_EQ(account.used, 0u);
  // Nobody's interpreter keeps it for the next context.
  Context next(model, 0, "{}", &account);
  EXPECT_LT(account.used, large / 8);
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
    const Model model(host, Deconvolution().Write(), TfLiteOptions(path));
    ASSERT_TRUE(model.loaded()) << model.loaded().message;
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
    EXPECT_EQ(model.loaded().code, WASINN_UNSUPPORTED_OPERATION) << path;
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
  EXPECT_EQ(load({.output = {1, 3, 4, 1}, .options = {2, 2, 2}}), WASINN_INVALID_ENCODING);
  EXPECT_EQ(load({.output = {1, 5, 4, 1}}), WASINN_INVALID_ENCODING);
  EXPECT_EQ(load({.output = {2, 4, 4, 1}}), WASINN_INVALID_ENCODING);
  EXPECT_EQ(load({.output = {1, 4, 4, 2}}), WASINN_INVALID_ENCODING);
  EXPECT_EQ(load({.filter = {1, 2, 2, 3}}), WASINN_INVALID_ENCODING);
  EXPECT_EQ(load({.filter = {1, 1, 1, 1}}), WASINN_INVALID_ENCODING);  // a window that leaves gaps
  EXPECT_EQ(load({.bias = {2}}), WASINN_INVALID_ENCODING);
  for (const auto& options :
       {std::vector<int32_t>{1, 0, 2}, {1, 2, -2}, {3, 2, 2}, {1, 2}, std::vector<int32_t>(1000, 1)}) {
    EXPECT_EQ(load({.options = options}), WASINN_INVALID_ENCODING) << ::testing::PrintToString(options);
  }
}

}  // namespace
}  // namespace wasinn::test
