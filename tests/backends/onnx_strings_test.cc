// Tensors of strings, the maps of ZipMap, and sequences.
#include "backends/expect.h"
#include "backends/onnx_writer.h"
#include "support/echo.h"
#include "support/files.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

constexpr char kMl[] = "ai.onnx.ml";

std::string MlModel(const Graph& graph) { return ModelWithDomain(kMl, 3, graph); }

std::string Same(const Proto& type) {
  return ModelOf(
      {.nodes = {Node("Identity", {"x"}, {"y"})}, .inputs = {Value("x", type)}, .outputs = {Value("y", type)}});
}

TEST(OnnxStrings, OfAnyBytesAndAnyShapeComeBackAsTheyWent) {
  const Host host;
  const LoadedModel model(host, Same(TensorTypeOfAnyRank(kString)));
  Context context(model);
  const std::string any = std::string("a\0b", 3) + "\xff\xfe\xc3", big(100'000, 'x');
  for (const Tensor& in :
       {Strings({}, {"scalar"}), Strings({0}, {}), Strings({2, 0}, {}, 3), Strings({2}, {"", ""}),
        Strings({2, 3}, {any, "", "b", std::string(1, '\0'), "gr\u00fcn", "0"}, 7), Strings({1, 1, 2}, {big, any})}) {
    const Tensor out = Compute(&context, {in});
    EXPECT_EQ(std::vector(out.dims.begin(), out.dims.end() - 1), std::vector(in.dims.begin(), in.dims.end() - 1));
    EXPECT_EQ(TextsOf(out), TextsOf(in));
  }
}

// The memory is the same, and what lies there is not.
TEST(OnnxStrings, AreReadAnewForEachCompute) {
  const Host host;
  const LoadedModel model(host, Same(TensorType(kString, {kUnknown})));
  Context context(model);
  for (const char* text : {"one", "two", "six"}) {
    EXPECT_THAT(TextsOf(Compute(&context, {Strings({1}, {text})})), ElementsAre(text));
  }
}

TEST(OnnxStrings, OfLabelEncodersGoBothWays) {
  const Host host;
  const LoadedModel numbers(host, MlModel({.nodes = {Node("LabelEncoder", {"x"}, {"y"})
                                                         .Add(5, TextsAttribute("keys_strings", {"cat", "dog"}))
                                                         .Add(5, IntsAttribute("values_int64s", {7, 8}))
                                                         .Add(5, IntAttribute("default_int64", -1))
                                                         .Text(7, kMl)},
                                           .inputs = {Value("x", kString, {kUnknown})},
                                           .outputs = {Value("y", kInt64, {kUnknown})}}));
  EXPECT_THAT(Compute(numbers, {Strings({3}, {"dog", "cat", "cow"})}).As<int64_t>(), ElementsAre(8, 7, -1));
  const LoadedModel texts(host, MlModel({.nodes = {Node("LabelEncoder", {"x"}, {"y"})
                                                       .Add(5, IntsAttribute("keys_int64s", {7, 8}))
                                                       .Add(5, TextsAttribute("values_strings", {"cat", "dog"}))
                                                       .Add(5, TextAttribute("default_string", "?"))
                                                       .Text(7, kMl)},
                                         .inputs = {Value("x", kInt64, {kUnknown})},
                                         .outputs = {Value("y", kString, {kUnknown})}}));
  const Tensor in = MakeTensor<int64_t>(WASINN_DTYPE_I64, {3}, {8, 9, 7});
  EXPECT_THAT(TextsOf(Compute(texts, {in})), ElementsAre("dog", "?", "cat"));
}

// Capitals of all words but "the".
std::string Capitals(const char* locale) {
  return ModelOf({.nodes = {Node("StringNormalizer", {"x"}, {"y"})
                                .Add(5, TextAttribute("case_change_action", "UPPER"))
                                .Add(5, TextAttribute("locale", locale))
                                .Add(5, IntAttribute("is_case_sensitive", 1))
                                .Add(5, TextsAttribute("stopwords", {"the"}))},
                  .inputs = {Value("x", kString, {kUnknown})},
                  .outputs = {Value("y", kString, {kUnknown})}});
}

TEST(OnnxStrings, OfStringNormalizersAreAsManyAsAreLeft) {
  const Host host;
  const LoadedModel model(host, Capitals("C"));
  Context context(model);
  EXPECT_THAT(TextsOf(Compute(&context, {Strings({3}, {"the", "blue", "sky"})})), ElementsAre("BLUE", "SKY"));
  EXPECT_THAT(TextsOf(Compute(&context, {Strings({4}, {"a", "the", "b", "c"})})), ElementsAre("A", "B", "C"));
}

// glibc reads a locale from files, which a sealed worker cannot open. Debian always has this one.
TEST(OnnxStrings, OfStringNormalizersHaveTheirLocaleInWorkers) {
  const testing::TestFolder folder;
  testing::Log log;
  const testing::HostPtr host =
      testing::EchoHost(log,
                        "worker = '" + testing::WorkerFile() + "'\n[models.capitals]\npath = '" +
                            folder.Write("capitals.onnx", Capitals("C.UTF-8")) + "'\nisolate = true\n",
                        std::filesystem::path(testing::BackendFile("onnx")).parent_path());
  const testing::GuestPtr guest = testing::NewGuest(host.get());
  testing::FakeGuest calls(guest.get());
  const Tensor in = Strings({2}, {"the", "gr\u00fcn"});
  const uint32_t context = calls.NewContext("capitals");
  ASSERT_EQ(calls.SetInput(context, 0, {2, 9}, testing::kTypeOf<uint8_t>,
                           std::vector<uint8_t>(in.bytes.begin(), in.bytes.end())),
            testing::kSuccess)
      << log.Last();
  ASSERT_EQ(calls.Compute(context), testing::kSuccess) << log.Last();
  const auto out = calls.Output<uint8_t>(context);
  EXPECT_THAT(TextsOf({WASINN_DTYPE_U8, {1, 9}, std::string(out.begin(), out.end())}), ElementsAre("GR\u00dcN"));
}

TEST(OnnxStrings, AreCountedByTfIdfVectorizers) {
  const Host host;
  const LoadedModel model(host, ModelOf({.nodes = {Node("TfIdfVectorizer", {"x"}, {"y"})
                                                       .Add(5, TextAttribute("mode", "TF"))
                                                       .Add(5, IntAttribute("min_gram_length", 1))
                                                       .Add(5, IntAttribute("max_gram_length", 1))
                                                       .Add(5, IntAttribute("max_skip_count", 0))
                                                       .Add(5, IntsAttribute("ngram_counts", {0}))
                                                       .Add(5, IntsAttribute("ngram_indexes", {0, 1, 2}))
                                                       .Add(5, TextsAttribute("pool_strings", {"a", "b", "c"}))},
                                         .inputs = {Value("x", kString, {kUnknown})},
                                         .outputs = {Value("y", kFloat, {kUnknown})}}));
  EXPECT_THAT(Compute(model, {Strings({5}, {"b", "a", "b", "?", "b"})}).As<float>(), ElementsAre(1, 3, 0));
}

TEST(OnnxStringsHostile, LengthsThatLieAreRefused) {
  const Host host;
  const LoadedModel model(host, Same(TensorType(kString, {kUnknown})));
  Context context(model);
  Tensor longer = Strings({2}, {"aa", "bb"}), longest = longer;
  longer.bytes[6] = 3;
  longest.bytes.replace(6, 4, "\xff\xff\xff\xff");
  const Tensor cut{WASINN_DTYPE_U8, {1, 3}, std::string("\1\0\0", 3)};
  for (const Tensor& in : {longer, longest, cut}) {
    ASSERT_TRUE(context.Set(0, in));
    const Result computed = context.Compute();
    EXPECT_EQ(computed.code, WASINN_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(computed.message, HasSubstr("input 'x': string "));
  }
  EXPECT_EQ(context.Set(0, {WASINN_DTYPE_U8, {3, 0}, ""}).code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(TextsOf(Compute(&context, {Strings({1}, {"good"})})), ElementsAre("good"));
}

// Each takes more than its bytes in ONNX Runtime.
TEST(OnnxStringsHostile, ManyEmptyOnesCountAsWhatTheyTake) {
  const Host host;
  const LoadedModel model(host, Same(TensorType(kString, {kUnknown})));
  constexpr int64_t kCount = 1 << 20;
  Context context(model, 8 * kMebi);
  ASSERT_TRUE(context.Set(0, {WASINN_DTYPE_U8, {kCount, 4}, std::string(4 * kCount, '\0')}));
  const Result computed = context.Compute();
  EXPECT_EQ(computed.code, WASINN_ERROR_TOO_LARGE) << computed.message;
}

// 64 KiB of it are 256 MiB as a tensor.
TEST(OnnxStringsHostile, ALongOneAmongManyCountsForEach) {
  const Host host;
  std::vector<int64_t> indices(4096);
  indices.back() = 1;
  const LoadedModel model(host, ModelOf({.nodes = {Node("Gather", {"x", "i"}, {"y"})},
                                         .constants = {Constant("i", kInt64, {4096}, indices)},
                                         .inputs = {Value("x", kString, {2})},
                                         .outputs = {Value("y", kString, {4096})}}));
  Context context(model, 64 * kMebi);
  ASSERT_TRUE(context.Set(0, Strings({2}, {"", std::string(64 << 10, 'x')})));
  const Result computed = context.Compute();
  EXPECT_EQ(computed.code, WASINN_ERROR_TOO_LARGE);
  EXPECT_THAT(computed.message, HasSubstr("output 'y'"));
  EXPECT_THAT(TextsOf(Compute(&context, {Strings({2}, {"a", "b"})})), SizeIs(4096));
}

// A sequence of maps from keys of this type to floats.
Proto ClassMaps(int key) {
  const Proto map = Proto().Int(1, key).Add(2, TensorTypeOfAnyRank(kFloat));
  return Proto().Add(4, Proto().Add(1, Proto().Add(5, map)));
}

std::string ZipMap(int64_t columns, const Proto& classes, int key) {
  return MlModel({.nodes = {Node("ZipMap", {"x"}, {"maps"}).Add(5, classes).Text(7, kMl)},
                  .inputs = {Value("x", kFloat, {kUnknown, columns})},
                  .outputs = {Value("maps", ClassMaps(key))}});
}

TEST(OnnxZipMap, GivesScoresInTheOrderOfTheClassesAndNamesThem) {
  const Host host;
  for (const auto& [model, classes] :
       {std::pair(ZipMap(3, IntsAttribute("classlabels_int64s", {7, -2, INT64_MAX}), kInt64),
                  "[7,-2,9223372036854775807]"),
        {ZipMap(3, TextsAttribute("classlabels_strings", {"pear", "apple", "\xff"}), kString),
         "[\"pear\",\"apple\",\"\xef\xbf\xbd\"]"}}) {
    const LoadedModel loaded(host, model);
    EXPECT_THAT(host.table().describe(loaded.get()), HasSubstr(R"("classes":{"maps":)" + std::string(classes)));
    const std::vector<float> scores = {0.5f, 0.25f, 0.125f, 3, 2, 1};
    const Tensor out = Compute(loaded, {Floats({2, 3}, scores)});
    EXPECT_THAT(out.dims, ElementsAre(2, 3));
    EXPECT_EQ(out.As<float>(), scores);
  }
}

TEST(OnnxZipMap, OfVeryManyClassesStaysMaps) {
  const Host host;
  std::vector<int64_t> classes((1 << 16) + 1);
  const LoadedModel model(
      host, ZipMap(static_cast<int64_t>(classes.size()), IntsAttribute("classlabels_int64s", classes), kInt64));
  EXPECT_EQ(model.output(0).flags, WASINN_IO_UNSERVABLE);
  EXPECT_STREQ(model.output(0).type_name, "seq(map(int64,tensor(float)))");
  EXPECT_THAT(host.table().describe(model.get()), Not(HasSubstr("classes")));
}

TEST(OnnxZipMap, WithAClassTwiceIsAnErrorOfTheCompute) {
  const Host host;
  const LoadedModel model(host, ZipMap(2, IntsAttribute("classlabels_int64s", {5, 5}), kInt64));
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({1, 2}, {1, 2})));
  const Result computed = context.Compute();
  EXPECT_EQ(computed.code, WASINN_ERROR_RUNTIME);
  EXPECT_THAT(computed.message, HasSubstr("output 'maps'"));
}

Proto Sequence(const Proto& element) { return Proto().Add(4, Proto().Add(1, element)); }

// A sequence between two tensors.
std::string SequenceOf(int type, const std::vector<std::string>& elements) {
  return ModelOf({.nodes = {Node("Identity", {"a"}, {"first"}), Node("SequenceConstruct", elements, {"s"}),
                            Node("Identity", {"b"}, {"last"})},
                  .inputs = {Value("a", type, {kUnknown}), Value("b", type, {kUnknown, 2})},
                  .outputs = {Value("first", type, {kUnknown}), Value("s", Sequence(TensorTypeOfAnyRank(type))),
                              Value("last", type, {kUnknown, 2})}});
}

TEST(OnnxSequence, OfAKnownLengthIsItsElements) {
  const Host host;
  const LoadedModel model(host, SequenceOf(kFloat, {"b", "a", "b"}));
  ASSERT_EQ(model.info().n_outputs, 5U);
  const std::vector<const char*> names = {"first", "s.0", "last", "s.1", "s.2"};
  for (uint32_t i = 0; i < names.size(); ++i) {
    EXPECT_STREQ(model.output(i).name, names[i]);
    EXPECT_STREQ(model.output(i).type_name, "tensor(float)");
  }
  Context context(model);
  for (const float one : {1.0f, 5.0f}) {
    ASSERT_TRUE(context.Set(0, Floats({1}, {one})));
    ASSERT_TRUE(context.Set(1, Floats({2, 2}, {one, 2, 3, 4})));
    MustCompute(&context);
    const std::vector<float> a = {one}, b = {one, 2, 3, 4};
    const std::vector<std::vector<float>> wanted = {a, b, b, a, b};
    for (uint32_t i = 0; i < wanted.size(); ++i) {
      Tensor out;
      ASSERT_TRUE(context.Get(i, &out));
      EXPECT_EQ(out.As<float>(), wanted[i]) << names[i];
      EXPECT_THAT(out.dims, SizeIs(wanted[i] == a ? 1 : 2));
    }
  }
}

TEST(OnnxSequence, OfStringsIsItsElements) {
  const Host host;
  const LoadedModel model(host, SequenceOf(kString, {"b", "a"}));
  Context context(model);
  ASSERT_TRUE(context.Set(0, Strings({1}, {"one"})));
  ASSERT_TRUE(context.Set(1, Strings({1, 2}, {"", std::string("\0x", 2)})));
  MustCompute(&context);
  Tensor pair, single;
  ASSERT_TRUE(context.Get(1, &pair));
  ASSERT_TRUE(context.Get(3, &single));
  EXPECT_THAT(TextsOf(pair), ElementsAre("", std::string("\0x", 2)));
  EXPECT_THAT(TextsOf(single), ElementsAre("one"));
}

TEST(OnnxSequence, OfVeryManyElementsStaysASequence) {
  const Host host;
  const LoadedModel model(host, SequenceOf(kFloat, std::vector<std::string>((1 << 10) + 1, "a")));
  ASSERT_EQ(model.info().n_outputs, 3U);
  EXPECT_EQ(model.output(1).flags, WASINN_IO_UNSERVABLE);
  EXPECT_STREQ(model.output(1).type_name, "seq(tensor(float))");
}

// The sequence `s` of two tensors, and other outputs.
std::string SequenceBeside(const std::vector<std::string>& others) {
  Graph graph = {.nodes = {Node("SequenceConstruct", {"x", "x"}, {"s"})},
                 .constants = {},
                 .inputs = {Value("x", kFloat, {1})},
                 .outputs = {Value("s", Sequence(TensorTypeOfAnyRank(kFloat)))}};
  for (const std::string& other : others) {
    if (other == "s") {
      graph.outputs.push_back(graph.outputs[0]);
    } else {
      graph.nodes.push_back(Node("Identity", {"x"}, {other}));
      graph.outputs.push_back(Value(other, kFloat, {1}));
    }
  }
  return ModelOf(graph);
}

TEST(OnnxSequence, StaysOneIfAnOutputHasAnElementsName) {
  const Host host;
  const LoadedModel model(host, SequenceBeside({"s.1"}));
  ASSERT_EQ(model.info().n_outputs, 2U);
  EXPECT_EQ(model.output(0).flags, WASINN_IO_UNSERVABLE);
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({1}, {7})));
  MustCompute(&context);
  Tensor out;
  ASSERT_TRUE(context.Get(1, &out));
  EXPECT_THAT(out.As<float>(), ElementsAre(7));
}

TEST(OnnxSequence, OfAFunctionWithTheOperatorsNameStaysOne) {
  const Host host;
  const Proto function = Function("my", "SequenceConstruct", "x", "y", Node("SplitToSequence", {"x"}, {"y"}));
  const Graph graph = {.nodes = {Node("SequenceConstruct", {"x"}, {"s"}).Text(7, "my")},
                       .constants = {},
                       .inputs = {Value("x", kFloat, {3})},
                       .outputs = {Value("s", Sequence(TensorTypeOfAnyRank(kFloat)))}};
  const LoadedModel model(host,
                          WriteModel(graph.Write()).Add(8, Proto().Text(1, "my").Int(2, 1)).Add(25, function).bytes());
  ASSERT_EQ(model.info().n_outputs, 1U);
  EXPECT_STREQ(model.output(0).type_name, "seq(tensor(float))");
}

// Before each of them becomes as many ports as it has elements.
TEST(OnnxSequenceHostile, OneManyTimesIsRefused) {
  const Host host;
  const Model model(host, SequenceBeside({"s"}));
  EXPECT_THAT(model.loaded().message, HasSubstr("two outputs called 's'"));
}

// Elements are copied, each with its own memory.
TEST(OnnxSequenceHostile, OneTensorManyTimesCountsForEach) {
  const Host host;
  const LoadedModel model(host, SequenceOf(kFloat, std::vector<std::string>(1 << 10, "a")));
  Context context(model, 16 * kMebi);
  ASSERT_TRUE(context.Set(0, Floats({64 << 10}, std::vector<float>(64 << 10))));
  ASSERT_TRUE(context.Set(1, Floats({0, 2}, {})));
  const Result computed = context.Compute();
  EXPECT_EQ(computed.code, WASINN_ERROR_TOO_LARGE);
  ASSERT_TRUE(context.Set(0, Floats({1}, {7})));
  MustCompute(&context);
  Tensor out;
  ASSERT_TRUE(context.Get((1 << 10) + 1, &out));
  EXPECT_THAT(out.As<float>(), ElementsAre(7));
}

// A name is a sequence's for the scanner, and another type's for ONNX Runtime.
TEST(OnnxSequenceHostile, ANodeInASubgraphMakesNoElements) {
  const Host host;
  const Proto graph = Graph{.nodes = {Node("SequenceConstruct", {"x"}, {"y"}), Node("Identity", {"x"}, {"z"})},
                            .constants = {},
                            .inputs = {},
                            .outputs = {Value("z", kFloat, {kUnknown})}}
                          .Write();
  const LoadedModel model(host, ModelOf({.nodes = {Node("If", {"c"}, {"y"})
                                                       .Add(5, GraphAttribute("then_branch", graph))
                                                       .Add(5, GraphAttribute("else_branch", graph))},
                                         .inputs = {Value("x", kFloat, {kUnknown}), Value("c", kBool, {1})},
                                         .outputs = {Value("y", kFloat, {kUnknown})}}));
  ASSERT_EQ(model.info().n_outputs, 1U);
  EXPECT_STREQ(model.output(0).name, "y");
}

}  // namespace
}  // namespace wasinn::test
