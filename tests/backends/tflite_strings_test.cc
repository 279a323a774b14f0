// Tensors of strings.
#include "backends/expect.h"
#include "backends/tflite_options.h"
#include "backends/tflite_writer.h"
#include "support/echo.h"
#include "support/files.h"

namespace wasinn::test {
namespace {

constexpr int32_t kOpGather = 36;

// x → Reshape → y.
std::string Reshaped(const std::vector<int32_t>& from, const std::vector<int32_t>& to) {
  return WriteTfLite(
      {{.tensors = {{.name = "x", .type = kTfString, .shape = from},
                    {.name = "shape", .type = kTfInt32, .shape = {static_cast<int32_t>(to.size())}, .data = DataOf(to)},
                    {.name = "y", .type = kTfString, .shape = to}},
        .inputs = {0},
        .outputs = {2},
        .operators = {{.code = kOpReshape, .inputs = {0, 1}, .outputs = {2}}}}});
}

// y = x[i], of any number of strings and indices; with `x` it is a constant.
std::string Gathered(const std::string& x = "", int32_t count = 1) {
  const bool given = x.empty();
  return WriteTfLite({{.tensors = {{.name = "x",
                                    .type = kTfString,
                                    .shape = {count},
                                    .data = x,
                                    .signature = given ? std::vector<int32_t>{-1} : std::vector<int32_t>{}},
                                   {.name = "i", .type = kTfInt32, .shape = {1}, .signature = {-1}},
                                   {.name = "y", .type = kTfString, .shape = {1}, .signature = {-1}}},
                       .inputs = given ? std::vector<int32_t>{0, 1} : std::vector<int32_t>{1},
                       .outputs = {2},
                       .operators = {{.code = kOpGather, .inputs = {0, 1}, .outputs = {2}}}}});
}

Tensor Indices(const std::vector<int32_t>& indices) {
  return MakeTensor<int32_t>(WASINN_DTYPE_I32, {static_cast<int64_t>(indices.size())}, indices);
}

// In TensorFlow Lite's form.
std::string Block(const std::vector<std::string>& texts) {
  std::vector<int32_t> numbers = {static_cast<int32_t>(texts.size())};
  auto end = static_cast<int32_t>(4 * (texts.size() + 2));
  std::string bytes;
  for (const std::string& text : texts) {
    numbers.push_back(end);
    end += static_cast<int32_t>(text.size());
    bytes += text;
  }
  numbers.push_back(end);
  return DataOf(numbers) + bytes;
}

TEST(TfLiteStrings, OfAnyBytesAndAnyShapeComeBackAsTheyWent) {
  const Host host;
  const std::string any = std::string("a\0b", 3) + "\xff\xfe\xc3", big(100'000, 'x');
  const auto expect = [&](const std::vector<int32_t>& from, const std::vector<int32_t>& to, const Tensor& in) {
    const LoadedModel model(host, Reshaped(from, to), TfLiteOptions());
    EXPECT_EQ(model.input(0).dtype, uint32_t{WASINN_DTYPE_U8});
    EXPECT_EQ(model.input(0).flags & WASINN_IO_STRINGS, uint32_t{WASINN_IO_STRINGS});
    EXPECT_EQ(static_cast<size_t>(model.input(0).rank), from.size() + 1);
    Context context(model);
    for (int i = 0; i < 2; ++i) {
      const Tensor out = Compute(&context, {in});
      EXPECT_EQ(std::vector(out.dims.begin(), out.dims.end() - 1), std::vector<int64_t>(to.begin(), to.end()));
      EXPECT_EQ(TextsOf(out), TextsOf(in));
    }
  };
  expect({2, 3}, {3, 2}, Strings({2, 3}, {any, "", "b", std::string(1, '\0'), "gr\u00fcn", "0"}, 7));
  expect({}, {1}, Strings({}, {"scalar"}));
  expect({1, 1, 2}, {2}, Strings({1, 1, 2}, {big, any}));
  expect({2}, {2, 1}, Strings({2}, {"", ""}));
}

TEST(TfLiteStrings, AreAsManyAsAGuestGives) {
  const Host host;
  const LoadedModel model(host, Gathered(), TfLiteOptions());
  Context context(model);
  EXPECT_THAT(TextsOf(Compute(&context, {Strings({3}, {"a", "bb", "ccc"}), Indices({2, 0})})), ElementsAre("ccc", "a"));
  EXPECT_THAT(TextsOf(Compute(&context, {Strings({1}, {"only"}), Indices({0, 0, 0})})),
              ElementsAre("only", "only", "only"));
  EXPECT_THAT(TextsOf(Compute(&context, {Strings({2}, {std::string(5000, 'x'), ""}, 3), Indices({1})})),
              ElementsAre(""));
  const Tensor none = Compute(&context, {Strings({2}, {"a", "b"}), Indices({})});
  EXPECT_EQ(none.dims.front(), 0);
  EXPECT_EQ(context.Set(0, {WASINN_DTYPE_U8, {3, 0}, ""}).code, WASINN_ERROR_INVALID_ARGUMENT);
}

TEST(TfLiteStrings, OfAModelsOwnAreItsAnswers) {
  const Host host;
  const LoadedModel model(host, Gathered(Block({"cat", "dog", "gr\u00fcn"}), 3), TfLiteOptions());
  EXPECT_THAT(TextsOf(Compute(model, {Indices({2, 2, 1})})), ElementsAre("gr\u00fcn", "gr\u00fcn", "dog"));
}

TEST(TfLiteStrings, GoIntoModelsThatAnswerNumbers) {
  const Host host;
  const std::string bytes =
      WriteTfLite({{.tensors = {{.name = "x", .type = kTfString, .shape = {3}},
                                {.name = "dog", .type = kTfString, .shape = {3}, .data = Block({"dog", "dog", "dog"})},
                                {.name = "y", .type = kTfBool, .shape = {3}}},
                    .inputs = {0},
                    .outputs = {2},
                    .operators = {{.code = kOpEqual, .inputs = {0, 1}, .outputs = {2}, .version = 3}}}});
  const LoadedModel model(host, bytes, TfLiteOptions());
  EXPECT_EQ(model.output(0).rank, 1) << "the shape is known, though strings have any length";
  Context context(model);
  for (const char* text : {"dog", "a longer one"}) {
    const bool same = std::string(text) == "dog";
    EXPECT_THAT(Compute(&context, {Strings({3}, {text, "cat", "dog"})}).As<uint8_t>(), ElementsAre(same, false, true));
  }
}

TEST(TfLiteStringsHostile, LengthsThatLieAreRefused) {
  const Host host;
  const LoadedModel model(host, Gathered(), TfLiteOptions());
  Context context(model);
  Tensor longer = Strings({2}, {"aa", "bb"}), longest = longer;
  longer.bytes[6] = 3;
  longest.bytes.replace(6, 4, "\xff\xff\xff\xff");
  const Tensor cut{WASINN_DTYPE_U8, {1, 3}, std::string("\1\0\0", 3)};
  ASSERT_TRUE(context.Set(1, Indices({0})));
  for (const Tensor& in : {longer, longest, cut}) {
    ASSERT_TRUE(context.Set(0, in));
    const Result computed = context.Compute();
    EXPECT_EQ(computed.code, WASINN_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(computed.message, HasSubstr("input 'x': string "));
  }
  EXPECT_THAT(TextsOf(Compute(&context, {Strings({1}, {"good"}), Indices({0})})), ElementsAre("good"));
}

// TensorFlow Lite would read outside of the model's bytes.
TEST(TfLiteStringsHostile, OfAModelThatLieOutsideOfItAreRefused) {
  const Host host;
  const auto loaded = [&](const std::string& block, int32_t count) {
    return Model(host, Gathered(block, count), TfLiteOptions()).loaded();
  };
  EXPECT_TRUE(loaded(Block({"cat", "dog"}), 2)) << loaded(Block({"cat", "dog"}), 2).message;
  EXPECT_EQ(loaded(Block({"cat", "dog"}), 3).code, WASINN_ERROR_INVALID_ENCODING);
  EXPECT_EQ(loaded("cat", 1).code, WASINN_ERROR_INVALID_ENCODING);
  for (const size_t number : {0, 1, 2, 3}) {
    for (const int32_t wrong : {-1, INT32_MIN, INT32_MAX, 1000}) {
      std::string block = Block({"cat", "dog"});
      std::memcpy(&block[4 * number], &wrong, sizeof(wrong));
      EXPECT_EQ(loaded(block, 2).code, WASINN_ERROR_INVALID_ENCODING) << number << ": " << wrong;
    }
  }
  EXPECT_THAT(loaded("cat", 1).message, HasSubstr("tensor 'x'"));
}

// The places of each take more than its bytes.
TEST(TfLiteStringsHostile, ManyEmptyOnesCountAsWhatTheyTake) {
  const Host host;
  const LoadedModel model(host, Gathered(), TfLiteOptions());
  constexpr int64_t kCount = 1 << 20;
  Account account{.limit = 3 * kMebi};
  Context context(model, 0, "{}", &account);
  ASSERT_TRUE(context.Set(0, {WASINN_DTYPE_U8, {kCount, 4}, std::string(4 * kCount, '\0')}));
  ASSERT_TRUE(context.Set(1, Indices({0})));
  EXPECT_EQ(context.Compute().code, WASINN_ERROR_TOO_LARGE);
  EXPECT_THAT(TextsOf(Compute(&context, {Strings({2}, {"a", "b"}), Indices({1})})), ElementsAre("b"));
  Context limited(model, 3 * kMebi);
  ASSERT_TRUE(limited.Set(0, {WASINN_DTYPE_U8, {kCount, 4}, std::string(4 * kCount, '\0')}));
  ASSERT_TRUE(limited.Set(1, Indices({0})));
  EXPECT_EQ(limited.Compute().code, WASINN_ERROR_TOO_LARGE);
}

// 64 KiB of it are 256 MiB as a tensor.
TEST(TfLiteStringsHostile, ALongOneAmongManyCountsForEach) {
  const Host host;
  const LoadedModel model(host, Gathered(), TfLiteOptions());
  std::vector<int32_t> indices(4096);
  indices.back() = 1;
  Context context(model, 64 * kMebi);
  ASSERT_TRUE(context.Set(0, Strings({2}, {"", std::string(64 << 10, 'x')})));
  ASSERT_TRUE(context.Set(1, Indices(indices)));
  const Result computed = context.Compute();
  EXPECT_EQ(computed.code, WASINN_ERROR_TOO_LARGE) << computed.message;
  EXPECT_THAT(TextsOf(Compute(&context, {Strings({2}, {"a", "b"}), Indices({1, 0})})), ElementsAre("b", "a"));
}

std::string Library() { return testing::InThisBuild("lib/libtflite_test_operators.so"); }

std::string TwiceModel() {
  return WriteTfLite(
      {{.tensors = {{.name = "x", .shape = {2}}, {.name = "y", .shape = {2}}},
        .inputs = {0},
        .outputs = {1},
        .operators = {{.code = kOpCustom, .inputs = {0}, .outputs = {1}, .custom = "WasinnTestTwice"}}}});
}

TEST(TfLiteOperators, OfALibraryComputeInTheModelsThatListIt) {
  const Host host;
  const auto load = [&](const std::string& config) {
    LoadOptions options = TfLiteOptions("/models/twice.tflite");
    options.host_config = config;
    return Model(host, TwiceModel(), options);
  };
  for (int i = 0; i < 2; ++i) {
    const Result without = load("{}").loaded();
    EXPECT_EQ(without.code, WASINN_ERROR_INVALID_ENCODING);
    EXPECT_THAT(without.message, AllOf(HasSubstr("WasinnTestTwice"), HasSubstr("op_libraries")));
    LoadOptions options = TfLiteOptions("/models/twice.tflite");
    options.host_config = "{\"op_libraries\": [\"" + Library() + "\"]}";
    const LoadedModel model(host, TwiceModel(), options);
    EXPECT_THAT(Compute(model, {Floats({2}, {1, -3})}).As<float>(), ElementsAre(2, -6));
  }
  EXPECT_THAT(load(R"({"op_libraries": ["/not/there.so"]})").loaded().message,
              AllOf(HasSubstr("op_libraries"), HasSubstr("/not/there.so")));
  EXPECT_THAT(load("{\"op_libraries\": [\"" + testing::BackendFile("tflite") + "\"]}").loaded().message,
              HasSubstr("has no wasmEdgeWasiNnTfLiteAddCustomOps"));
  EXPECT_THAT(load(R"({"op_libraries": ["libm.so.6"]})").loaded().message, HasSubstr("expected absolute paths"));
}

TEST(TfLiteSignature, IsChosenByAGuestOfANamedModel) {
  testing::Log log;
  const std::string model = "]\npath = '" + ModelPath("signatures.tflite") + "'\n";
  const testing::HostPtr host = testing::EchoHost(
      log,
      "worker = '" + testing::WorkerFile() + "'\n[models.here" + model + "[models.apart" + model + "isolate = true\n",
      std::filesystem::path(testing::BackendFile("tflite")).parent_path());
  const testing::GuestPtr guest = testing::NewGuest(host.get());
  testing::FakeGuest calls(guest.get());
  for (const char* name : {"here", "apart"}) {
    for (const auto& [config, first] : {std::pair("{}", 10.F), {R"({"signature": "add"})", 11.F}}) {
      uint32_t graph = 0, context = 0;
      ASSERT_EQ(calls.LoadWithConfig(name, config, graph), testing::kSuccess) << log.Last();
      ASSERT_EQ(calls.InitContext(graph, context), testing::kSuccess);
      const std::vector<float> x(6, 1);
      ASSERT_EQ(calls.SetInput(context, 0, {2, 3}, testing::kF32, x), testing::kSuccess) << log.Last();
      ASSERT_EQ(calls.Set(context, std::vector<float>{10, 10, 10}, 1), testing::kSuccess) << log.Last();
      ASSERT_EQ(calls.Compute(context), testing::kSuccess) << log.Last();
      EXPECT_EQ(calls.Output<float>(context), std::vector<float>(6, first)) << name << config;
    }
  }
}

TEST(TfLiteOperators, AndStringsComputeAlsoInWorkers) {
  const testing::TestFolder folder;
  testing::Log log;
  const testing::HostPtr host = testing::EchoHost(
      log,
      "worker = '" + testing::WorkerFile() + "'\n[models.twice]\nisolate = true\npath = '" +
          folder.Write("twice.tflite", TwiceModel()) + "'\n[models.twice.config]\nop_libraries = ['" + Library() +
          "']\n[models.words]\nisolate = true\npath = '" + folder.Write("words.tflite", Reshaped({2}, {2, 1})) + "'\n",
      std::filesystem::path(testing::BackendFile("tflite")).parent_path());
  const testing::GuestPtr guest = testing::NewGuest(host.get());
  testing::FakeGuest calls(guest.get());
  EXPECT_THAT(calls.Infer<float>(calls.NewContext("twice"), {1, -3}), ElementsAre(2, -6)) << log.Last();
  const Tensor words = Strings({2}, {"ab", "c"});
  const std::vector<uint8_t> bytes(words.bytes.begin(), words.bytes.end());
  const uint32_t context = calls.NewContext("words");
  ASSERT_EQ(calls.SetInput(context, 0, {2, 6}, testing::kTypeOf<uint8_t>, bytes), testing::kSuccess) << log.Last();
  ASSERT_EQ(calls.Compute(context), testing::kSuccess) << log.Last();
  EXPECT_EQ(calls.Output<uint8_t>(context), bytes);
}

}  // namespace
}  // namespace wasinn::test
