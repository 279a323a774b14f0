// Strings, and operators of libraries.
#include "backends/expect.h"
#include "backends/tensorflow_writer.h"
#include "support/echo.h"
#include "support/files.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

constexpr uint64_t kTfFloat = 1, kTfUint8 = 4, kTfString = 7;

LoadOptions TfOptions(const std::string& host_config = "{}") {
  return {.encoding = "tensorflow", .host_config = host_config};
}

std::string TfText(const std::string& name = "x") {
  return TfNode(name, "Placeholder", {}, TypeAttribute("dtype", kTfString));
}
std::string Type(const std::string& name, uint64_t type) { return TypeAttribute(name, type); }
std::string Whole(const std::string& name, uint64_t value) { return Attribute(name, NumberField(3, value)); }
std::string List(const std::string& name, const std::string& values) { return Attribute(name, BytesField(1, values)); }
std::string ShapeOf(uint64_t n) { return BytesField(2, NumberField(1, n)); }
std::string TensorAttribute(uint64_t type, uint64_t n, const std::string& values) {
  return Type("dtype", type) +
         Attribute("value", BytesField(8, NumberField(1, type) + BytesField(2, ShapeOf(n)) + values));
}
std::string Texts(const std::string& name, const std::vector<std::string>& texts) {
  std::string values;
  for (const std::string& text : texts) values += BytesField(8, text);
  return TfNode(name, "Const", {}, TensorAttribute(kTfString, texts.size(), values));
}
std::string Floating(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

TEST(TensorFlowStrings, OfAnyBytesAndAnyShapeComeBackAsTheyWent) {
  const Host host;
  const LoadedModel model(host, TfGraphOf({TfText(), TfNode("y", "Identity", {"x"}, Type("T", kTfString))}),
                          TfOptions());
  EXPECT_EQ(model.input(0).flags, static_cast<uint32_t>(WASINN_IO_STRINGS));
  EXPECT_EQ(model.output(0).flags, static_cast<uint32_t>(WASINN_IO_STRINGS));
  EXPECT_STREQ(model.input(0).type_name, "DT_STRING");
  Context context(model);
  const std::string any = std::string("a\0b", 3) + "\xff\xfe\xc3", big(100'000, 'x');
  for (const Tensor& in :
       {Strings({}, {"scalar"}), Strings({0}, {}), Strings({2}, {"", ""}),
        Strings({2, 3}, {any, "", "b", std::string(1, '\0'), "gr\u00fcn", "0"}, 7), Strings({1, 1, 2}, {big, any})}) {
    const Tensor out = Compute(&context, {in});
    EXPECT_EQ(std::vector(out.dims.begin(), out.dims.end() - 1), std::vector(in.dims.begin(), in.dims.end() - 1));
    EXPECT_EQ(TextsOf(out), TextsOf(in));
  }
}

TEST(TensorFlowStrings, ThatAreTheInputItselfComeBack) {
  const Host host;
  const LoadedModel model(host, TfGraphOf({TfText(), TfNode("y", "Identity", {"x"}, Type("T", kTfString))}),
                          TfOptions(R"({"outputs": ["x"]})"));
  EXPECT_THAT(TextsOf(Compute(model, {Strings({2}, {"a", "bc"})})), ElementsAre("a", "bc"));
}

TEST(TensorFlowStrings, AreMadeOfNumbers) {
  const Host host;
  const LoadedModel model(host, ModelBytes("unique_string.pb"), TfOptions());
  EXPECT_THAT(TextsOf(Compute(model, {Floats({2}, {1, 2.5})})), ElementsAre("1.000000", "2.500000"));
}

TEST(TensorFlowStrings, AreExamplesThatAModelParses) {
  const Host host;
  const LoadedModel model(
      host,
      TfGraphOf({TfText(), Texts("none", {}), Texts("keys", {"f"}),
                 TfNode("default", "Const", {}, TensorAttribute(kTfFloat, 2, BytesField(4, Floating({7, 8})))),
                 TfNode("y", "ParseExampleV2", {"x", "none", "none", "keys", "none", "default"},
                        List("Tdense", NumberField(6, kTfFloat)) + Whole("num_sparse", 0) + List("sparse_types", "") +
                            List("ragged_value_types", "") + List("ragged_split_types", "") +
                            List("dense_shapes", BytesField(7, ShapeOf(2))))}),
      TfOptions());
  const std::string floats = BytesField(2, BytesField(1, Floating({1, -3})));  // a Feature of a FloatList
  const std::string example = BytesField(1, BytesField(1, BytesField(1, "f") + BytesField(2, floats)));
  const Tensor out = Compute(model, {Strings({2}, {example, ""})});
  EXPECT_THAT(out.dims, ElementsAre(2, 2));
  EXPECT_THAT(out.As<float>(), ElementsAre(1, -3, 7, 8));
}

TEST(TensorFlowStrings, AreImagesThatAModelDecodes) {
  constexpr char kImage[] =
      "\211\120\116\107\015\012\032\012\000\000\000\015\111\110\104\122\000\000\000\002\000\000\000\002"
      "\010\000\000\000\000\127\335\122\370\000\000\000\016\111\104\101\124\170\332\143\140\144\142\370"
      "\367\037\000\003\016\002\001\102\355\224\014\000\000\000\000\111\105\116\104\256\102\140\202";
  const Host host;
  const LoadedModel model(
      host, TfGraphOf({TfText(), TfNode("y", "DecodePng", {"x"}, Whole("channels", 0) + Type("dtype", kTfUint8))}),
      TfOptions());
  Context context(model);
  const Tensor out = Compute(&context, {Strings({}, {std::string(kImage, sizeof(kImage) - 1)})});
  EXPECT_THAT(out.dims, ElementsAre(2, 2, 1));
  EXPECT_THAT(out.As<uint8_t>(), ElementsAre(1, 2, 254, 255));
  ASSERT_TRUE(context.Set(0, Strings({}, {"no image"})));
  EXPECT_EQ(context.Compute().code, WASINN_ERROR_RUNTIME);
}

// The memory that they came in has others by then.
TEST(TensorFlowStrings, ThatAModelKeepsStayWhatTheyWere) {
  const Host host;
  const std::string types = List("component_types", NumberField(6, kTfString));
  const std::string components = List("Tcomponents", NumberField(6, kTfString));
  const LoadedModel model(
      host,
      TfGraphOf({TfText(), TfNode("queue", "FIFOQueueV2", {}, types),
                 TfNode("put", "QueueEnqueueV2", {"queue", "x"}, components),
                 TfNode("size", "QueueSizeV2", {"queue", "^put"}), TfNode("text", "QueueDequeueV2", {"queue"}, types)}),
      TfOptions(R"({"outputs": ["size", "text"]})"));
  Context context(model);
  const std::string long_one(1000, 'x');
  for (const auto& text : {std::string("short"), long_one}) {
    ASSERT_TRUE(context.Set(0, Strings({2}, {text, "b"}, 1000 - text.size())));
    ASSERT_TRUE(context.Compute({0}));
    EXPECT_THAT(MustGet(&context, 0).As<int32_t>(), ElementsAre(1));
    ASSERT_TRUE(context.Set(0, Strings({2}, {std::string(1000, 'z'), "z"})));
    ASSERT_TRUE(context.Compute({1}));
    EXPECT_THAT(TextsOf(MustGet(&context, 1)), ElementsAre(text, "b"));
  }
}

TEST(TensorFlowStringsHostile, LengthsThatLieAreRefused) {
  const Host host;
  const LoadedModel model(host, TfGraphOf({TfText(), TfNode("y", "Identity", {"x"}, Type("T", kTfString))}),
                          TfOptions());
  Context context(model);
  Tensor longer = Strings({2}, {"aa", "bb"}), longest = longer;
  longer.bytes[6] = 3;
  longest.bytes.replace(6, 4, "\xff\xff\xff\xff");
  for (const Tensor& in : {longer, longest}) {
    ASSERT_TRUE(context.Set(0, in));
    const Result computed = context.Compute();
    EXPECT_EQ(computed.code, WASINN_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(computed.message, HasSubstr("input 'x': string 1"));
  }
  EXPECT_EQ(context.Set(0, {WASINN_DTYPE_U8, {3, 0}, ""}).code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(TextsOf(Compute(&context, {Strings({1}, {"good"})})), ElementsAre("good"));
}

TEST(TensorFlowStringsHostile, ManyEmptyOnesAreChargedAsWhatTheyTake) {
  const Host host;
  const LoadedModel model(host, TfGraphOf({TfText(), TfNode("y", "Size", {"x"}, Type("T", kTfString))}), TfOptions());
  constexpr int64_t kCount = 1 << 20;
  Account account{.limit = 16 * kMebi};
  Context context(model, 0, "{}", &account);
  ASSERT_TRUE(context.Set(0, {WASINN_DTYPE_U8, {kCount, 4}, std::string(4 * kCount, '\0')}));
  EXPECT_EQ(context.Compute().code, WASINN_ERROR_TOO_LARGE);
  EXPECT_EQ(account.used, 0u);
  EXPECT_THAT(Compute(&context, {Strings({2}, {"a", "b"})}).As<int32_t>(), ElementsAre(2));
  EXPECT_EQ(account.used, 0u);
}

// 80 KiB of it are 256 MiB as a tensor.
TEST(TensorFlowStringsHostile, ALongOneAmongManyCountsForEach) {
  const Host host;
  const LoadedModel model(
      host,
      TfGraphOf({TfText("a"), TfText("b"),
                 TfNode("axis", "Const", {},
                        Type("dtype", 3) + Attribute("value", BytesField(8, NumberField(1, 3) + NumberField(7, 0)))),
                 TfNode("y", "ConcatV2", {"a", "b", "axis"}, Type("T", kTfString) + Type("Tidx", 3) + Whole("N", 2))}),
      TfOptions());
  Context context(model, 64 * kMebi);
  ASSERT_TRUE(context.Set(0, Strings({1}, {std::string(64 << 10, 'x')})));
  ASSERT_TRUE(context.Set(1, Strings({4096}, std::vector<std::string>(4096))));
  const Result computed = context.Compute();
  EXPECT_EQ(computed.code, WASINN_ERROR_TOO_LARGE) << computed.message;
  EXPECT_THAT(TextsOf(Compute(&context, {Strings({1}, {"a"}), Strings({1}, {"b"})})), ElementsAre("a", "b"));
}

std::string Library() { return testing::InThisBuild("lib/libtensorflow_test_operators.so"); }
std::string TwiceGraph() { return TfGraph({TfNode("y", "WasinnTestTwice", {"x"})}); }

// A library stays open.
TEST(TensorFlowOperators, AreThoseOfLibrariesThatTheModelListsAlone) {
  const Host host;
  const Model before(host, TwiceGraph(), TfOptions());
  EXPECT_EQ(before.loaded().code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_THAT(before.loaded().message, AllOf(HasSubstr("WasinnTestTwice"), HasSubstr("op_libraries")));
  const Model broken(host, TwiceGraph(), TfOptions(R"({"op_libraries": "/not/there.so"})"));
  EXPECT_THAT(broken.loaded().message, AllOf(HasSubstr("op_libraries"), HasSubstr("/not/there.so")));
  for (int i = 0; i < 2; ++i) {
    const LoadedModel model(host, TwiceGraph(), TfOptions("{\"op_libraries\": [\"" + Library() + "\"]}"));
    EXPECT_THAT(Compute(model, {Floats({2}, {1, -3})}).As<float>(), ElementsAre(2, -6));
  }
  const Model after(host, TwiceGraph(), TfOptions());
  EXPECT_EQ(after.loaded().code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_THAT(after.loaded().message, AllOf(HasSubstr("WasinnTestTwice"), HasSubstr("op_libraries")));
}

TEST(TensorFlowOperators, OfANamedModelComputeAlsoInItsWorker) {
  const testing::TestFolder folder;
  testing::Log log;
  const testing::HostPtr host = testing::EchoHost(
      log,
      "worker = '" + testing::WorkerFile() + "'\n[models.m]\nisolate = true\npath = '" +
          folder.Write("twice.pb", TwiceGraph()) + "'\n[models.m.config]\nop_libraries = ['" + Library() + "']\n",
      std::filesystem::path(testing::BackendFile("tensorflow")).parent_path());
  const testing::GuestPtr guest = testing::NewGuest(host.get());
  testing::FakeGuest calls(guest.get());
  EXPECT_THAT(calls.Infer<float>(calls.NewContext("m"), {1, -3}), ElementsAre(2, -6)) << log.Last();
}

}  // namespace
}  // namespace wasinn::test
