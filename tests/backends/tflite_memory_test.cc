// The memory of interpreters, and its charges.
#include "backends/expect.h"
#include "backends/tflite_options.h"
#include "backends/tflite_writer.h"
#include "support/files.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

constexpr int32_t kOpDequantize = 6, kOpMean = 40;

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
    const LoadedModel model(host, bytes, TfLiteOptions());
    const Tensor x = Floats({rows, columns}, std::vector<float>(static_cast<size_t>(rows) * columns, 1));
    // x, the sum, y: each of the two MiB.
    Context enough(model, 7 << 20);
    ASSERT_TRUE(enough.Set(0, x));
    const Result computed = enough.Compute();
    EXPECT_TRUE(computed) << config << computed.message;
    EXPECT_EQ(static_cast<const float*>(enough.View(0).data)[0], 3);
    Context less(model, 5 << 20);
    ASSERT_TRUE(less.Set(0, x));
    EXPECT_EQ(less.Compute().code, WASINN_ERROR_TOO_LARGE) << config;
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

// An output that is an input is copied, as often as the model names it.
TEST(TfLiteMemory, OfOutputsThatAreAnInputIsCheckedBeforeTheyAreCopied) {
  std::vector<int32_t> outputs(20, 0);
  outputs.push_back(2);
  const std::string bytes =
      WriteTfLite({{.tensors = {{.name = "x", .shape = {1}, .signature = {-1}},
                                {.name = "one", .shape = {1}, .data = DataOf<float>({1})},
                                {.name = "y", .shape = {1}, .signature = {-1}}},
                    .inputs = {0},
                    .outputs = outputs,
                    .operators = {{.code = kOpAdd, .inputs = {0, 1}, .outputs = {2}, .options_type = kAddOptions}}}});
  const Host host;
  const LoadedModel model(host, bytes, TfLiteOptions());
  Context context(model, 16 << 20);
  const uint64_t before = AllocatedBytes();
  for (const size_t n : {size_t{1} << 20, size_t{1} << 10}) {  // 4 MiB, of which 20 are too many
    ASSERT_TRUE(context.Set(0, Floats({static_cast<int64_t>(n)}, std::vector<float>(n, 3))));
    const Result computed = context.Compute();
    EXPECT_EQ(computed.code, n == 1 << 10 ? WASINN_OK : WASINN_ERROR_TOO_LARGE) << computed.message;
    EXPECT_LT(AllocatedBytes(), before + (32 << 20));
  }
  EXPECT_EQ(static_cast<const float*>(context.View(19).data)[1023], 3);
  EXPECT_EQ(static_cast<const float*>(context.View(20).data)[1023], 4);
}

// A guest pays for the interpreters of its contexts.
TEST(TfLiteMemory, OfContextsIsCharged) {
  const uint64_t large = 16 << 20;
  for (const char* config : {"{}", R"({"xnnpack": false})"}) {
    const Host host(config);
    const LoadedModel model(host, LargeBetween(64), TfLiteOptions());
    Account account = {.limit = 10 * large};
    const Contexts contexts(host, model, {.account = &account});
    EXPECT_EQ(contexts.refused.code, WASINN_ERROR_TOO_LARGE) << contexts.refused.message;
    EXPECT_GE(contexts.made, 5u) << config;
    EXPECT_LE(contexts.made, 10u) << config;
    EXPECT_EQ(account.used, 0u);
  }
}

// After a refusal by any side the compute's memory is freed, and the context is as good as new.
TEST(TfLiteMemory, ThatWasRefusedIsGivenBack) {
  const uint64_t large = 16 << 20;
  for (const char* config : {"{}", R"({"xnnpack": false})"}) {
    const Host host(config);
    const LoadedModel model(host, LargeBetween(1, {-1, 1}), TfLiteOptions());
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
        EXPECT_EQ(refused.code, WASINN_ERROR_TOO_LARGE) << refused.message;
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
  const LoadedModel model(host, LargeBetween(1, {-1, 1}), TfLiteOptions());
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
    EXPECT_EQ(compute(1024).code, WASINN_ERROR_TOO_LARGE);
    EXPECT_TRUE(compute(64));
    EXPECT_THAT(MustGet(&context, 0).As<float>(), Each(2));
  }
  EXPECT_EQ(account.used, 0u);
  // No interpreter keeps it for the next context.
  Context next(model, 0, "{}", &account);
  EXPECT_LT(account.used, large / 8);
}

// A context whose memory its guest could not pay for has given it back, even if there cannot be another interpreter.
TEST(TfLiteMemory, ThatWasRefusedIsGivenBackWithoutAnotherInterpreter) {
  const uint64_t large = 16 << 20;
  const testing::TestFolder folder;
  const std::string absent = folder / "absent";
  LoadOptions options = TfLiteOptions();
  options.host_config = WithDelegate(R"("absent": ")" + absent + "\"");
  const Host host;
  const LoadedModel model(host, LargeBetween(1, {-1, 1}), options);
  Account account = {.limit = large / 4};
  Context context(model, 0, "{}", &account);
  const auto compute = [&](int64_t rows) {
    EXPECT_TRUE(context.Set(0, Floats({rows, 1}, std::vector<float>(static_cast<size_t>(rows), 2))));
    return context.Compute();
  };
  ASSERT_TRUE(compute(1));
  const uint64_t before = AllocatedBytes(), charged = account.used;
  std::ofstream(absent) << '\n';
  EXPECT_EQ(compute(64).code, WASINN_ERROR_TOO_LARGE);
  EXPECT_FALSE(compute(1)) << "there can be none";
  EXPECT_LT(AllocatedBytes(), before + large / 4);
  EXPECT_LE(account.used, charged);
  std::filesystem::remove(absent);
  const Result computed = compute(1);
  EXPECT_TRUE(computed) << computed.message;
}

// A guest leaves no more memory to the next context than the signature says, however long its inputs were.
TEST(TfLiteIdle, InterpretersKeepNoInputsOfAnyLength) {
  const int64_t rows = 1 << 22;
  const Host host;
  const LoadedModel model(host, LargeBetween(1, {-1, 1}), TfLiteOptions("/models/large.tflite"));
  const Tensor x = Floats({rows, 1}, std::vector<float>(rows, 2));
  const uint64_t before = AllocatedBytes();
  {
    std::vector<std::unique_ptr<Context>> contexts;
    for (int i = 0; i < 4; ++i) {
      contexts.push_back(std::make_unique<Context>(model));
      ASSERT_TRUE(contexts.back()->Set(0, x));
    }
    EXPECT_GE(AllocatedBytes(), before + 4 * x.bytes.size());
  }
  EXPECT_LT(AllocatedBytes(), before + x.bytes.size() / 4);
  Context next(model);
  ASSERT_TRUE(next.Set(0, Floats({2, 1}, {3, 4})));
  MustCompute(&next);
  EXPECT_THAT(MustGet(&next, 0).As<float>(), ElementsAre(3, 4));
}

// Or what runs have allocated besides the arenas.
TEST(TfLiteIdle, InterpretersKeepLittleOfWhatRunsAllocate) {
  const int32_t n = 1 << 22;
  const std::string bytes =
      WriteTfLite({{.tensors = {{.name = "n", .type = kTfInt32, .shape = {1}},
                                {.name = "one", .shape = {}, .data = DataOf<float>({1})},
                                {.name = "ones", .shape = {1}},
                                {.name = "axis", .type = kTfInt32, .shape = {1}, .data = DataOf<int32_t>({0})},
                                {.name = "y", .shape = {1}}},
                    .inputs = {0},
                    .outputs = {4},
                    .operators = {{.code = kOpFill, .inputs = {0, 1}, .outputs = {2}},
                                  {.code = kOpMean,
                                   .inputs = {2, 3},
                                   .outputs = {4},
                                   .options_type = 27 /* ReducerOptions */,
                                   .options = {1}}}}});
  const Host host;
  const LoadedModel model(host, bytes, TfLiteOptions("/models/ones.tflite"));
  const uint64_t before = AllocatedBytes();
  {
    std::vector<std::unique_ptr<Context>> contexts;
    for (int i = 0; i < 4; ++i) {
      contexts.push_back(std::make_unique<Context>(model));
      ASSERT_TRUE(contexts.back()->Set(0, MakeTensor<int32_t>(WASINN_DTYPE_I32, {1}, {n})));
      MustCompute(contexts.back().get());
    }
  }
  EXPECT_LT(AllocatedBytes(), before + sizeof(float) * n / 4);
}

// No guest pays for those of guests' models, so there are few, however many such models there are.
TEST(TfLiteIdle, InterpretersOfGuestsModelsAreBounded) {
  const uint64_t large = 16 << 20, most = 8 * large;
  const std::string bytes = LargeBetween(64);
  for (const uint32_t threads : {1, 2}) {
    const Host host("{}", threads);
    Account account;
    LoadOptions options = TfLiteOptions();
    options.account = &account;
    const uint64_t before = AllocatedBytes();
    std::vector<std::unique_ptr<Model>> models;
    for (int i = 0; i < 6; ++i) {
      models.push_back(std::make_unique<Model>(host, bytes, options));
      ASSERT_TRUE(models.back()->loaded()) << models.back()->loaded().message;
    }
    for (const auto& model : models) {
      Context contexts[3] = {Context(*model), Context(*model), Context(*model)};
      for (Context& context : contexts) {
        ASSERT_TRUE(context.Set(0, Floats({64, 1}, std::vector<float>(64, 2))));
        MustCompute(&context);
      }
    }
    EXPECT_EQ(account.used, 0u);
    EXPECT_GE(AllocatedBytes(), before + most / 2) << "they are worth keeping";
    EXPECT_LE(AllocatedBytes(), before + most + large);
    models.erase(models.begin() + 1, models.end());
    // There is room again.
    {
      Context contexts[3] = {Context(*models[0]), Context(*models[0]), Context(*models[0])};
    }
    EXPECT_GE(AllocatedBytes(), before + 2 * large);
  }
}

}  // namespace
}  // namespace wasinn::test
