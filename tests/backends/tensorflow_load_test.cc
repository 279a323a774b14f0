// Opening the backend, and what models it loads.
#include "backends/expect.h"
#include "backends/tensorflow_writer.h"
#include "support/files.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

LoadOptions Graph() { return {.encoding = "tensorflow"}; }

LoadOptions ByName(const std::string& name, const std::string& config = "{}", const std::string& guest = "{}") {
  return {.encoding = "tensorflow", .path = ModelPath(name), .host_config = config, .guest_config = guest};
}

std::vector<std::string> Names(const wasinn_io* const* ios, uint32_t n) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < n; ++i) names.emplace_back(ios[i]->name);
  return names;
}
std::vector<std::string> Inputs(const Model& model) { return Names(model.info().inputs, model.info().n_inputs); }
std::vector<std::string> Outputs(const Model& model) { return Names(model.info().outputs, model.info().n_outputs); }

TEST(TensorFlowTooNew, SaysWhatIsReadAndWhatToDo) {
  const Host host;
  const std::string versions("\x22\x08\x08\x9f\x8d\x06\x10\x9f\x8d\x06", 10);  // producer and min_consumer 99999
  const Model model(host, ModelBytes("dynamic.pb") + versions, Graph());
  EXPECT_EQ(model.loaded().code, WASINN_ERROR_INVALID_ENCODING);
  EXPECT_THAT(model.loaded().message, AllOf(HasSubstr("min consumer version 99999"), HasSubstr("above current version"),
                                            HasSubstr("newer than TensorFlow "), HasSubstr("or save the model again")));
}

// A process of its own, where TensorFlow is not open yet, so that it writes what it writes when it is opened. What
// others write in the meantime is not lost. It says most where oneDNN is on, which it is by default on some CPUs only.
TEST(TensorFlowOpen, WritesNothingToStderrAndLogsItInstead) {
  if (const char* role = getenv("WASINN_TEST_ROLE"); role != nullptr && std::string(role) == "open") {
    auto&& [host, model, context] = Opened(ModelBytes("dynamic.pb"), Graph());
    context.Set(0, Floats({1, 1}, {1}));
    const bool good = context.Compute() && host.log().find("oneDNN") != std::string::npos;
    std::fputs("own words\n", stderr);
    std::_Exit(good ? 0 : 1);
  }
  const auto self = std::filesystem::canonical("/proc/self/exe").string();
  const testing::TestFolder folder;
  const std::string file = folder / "stderr";
  const std::string command = "TF_ENABLE_ONEDNN_OPTS=1 WASINN_TEST_ROLE=open " + self +
                              " --gtest_filter=TensorFlowOpen.WritesNothingToStderrAndLogsItInstead >/dev/null 2>" +
                              file;
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(ReadFile(file), "own words\n");
}

TEST(TensorFlowGraphs, LoadFromBytesAndByName) {
  const Host host;
  for (const LoadOptions& options : {Graph(), ByName("mean.pb")}) {
    const LoadedModel model(host, ModelBytes("mean.pb"), options);
    EXPECT_THAT(Inputs(model), ElementsAre("image"));
    EXPECT_THAT(Outputs(model), ElementsAre("mean"));
    EXPECT_THAT(std::vector(model.input(0).dims, model.input(0).dims + 4), ElementsAre(1, 3, 8, 8));
    EXPECT_STREQ(model.input(0).type_name, "DT_FLOAT");
    EXPECT_THAT(std::vector(model.output(0).dims, model.output(0).dims + 2), ElementsAre(1, 3));
    EXPECT_THAT(host.table().describe(model.get()), HasSubstr(R"("format":"GraphDef")"));
  }
}

TEST(TensorFlowGraphs, TheirOutputsAreAllTensorsOfNodesWithoutConsumers) {
  const Host host;
  const Model all(host, ModelBytes("unique.pb"), Graph());
  EXPECT_THAT(Outputs(all), ElementsAre("unique", "unique:1"));
  LoadOptions options = Graph();
  options.host_config = R"({"outputs": ["unique:1"]})";
  const Model one(host, ModelBytes("unique.pb"), options);
  EXPECT_THAT(Outputs(one), ElementsAre("unique:1"));
  EXPECT_THAT(Compute(one, {MakeTensor<int32_t>(WASINN_DTYPE_I32, {6}, {7, 8, 7, 7, 8, 9})}).As<int32_t>(),
              ElementsAre(0, 1, 0, 0, 1, 2));
  for (const char* absent : {"none", "unique:2", "unique:-1", "unique:x", ":", ""}) {
    options.host_config = std::string(R"({"outputs": [")") + absent + "\"]}";
    const Model model(host, ModelBytes("unique.pb"), options);
    EXPECT_EQ(model.loaded().code, WASINN_ERROR_INVALID_ARGUMENT) << absent;
    EXPECT_THAT(model.loaded().message, HasSubstr(std::string("no tensor '") + absent + "'"));
  }
}

TEST(TensorFlowGraphs, OutputsOtherThanTensorsOfNumbersAreUnservable) {
  const Host host;
  const LoadedModel model(host, ModelBytes("identity_complex64.pb"), Graph());
  EXPECT_EQ(model.input(0).flags, static_cast<uint32_t>(WASINN_IO_UNSERVABLE));
  EXPECT_EQ(model.input(0).dtype, static_cast<uint32_t>(WASINN_DTYPE_UNKNOWN));
  Context context(model);
  const Result set = context.Set(0, Floats({2, 3}, std::vector<float>(6)));
  EXPECT_EQ(set.code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_THAT(set.message, HasSubstr(model.input(0).type_name));
}

TEST(TensorFlowGraphs, MayCallFunctions) {
  const Host host;
  const LoadedModel model(host, ModelBytes("function.pb"), Graph());
  EXPECT_THAT(Compute(model, {Floats({2}, {1, 2})}).As<float>(), ElementsAre(2, 4));
}

TEST(TensorFlowSavedModels, LoadByNameWithTheirVariables) {
  const Host host;
  const LoadedModel model(host, ModelBytes("two_signatures/saved_model.pb"), ByName("two_signatures/saved_model.pb"));
  EXPECT_THAT(Inputs(model), ElementsAre("bias", "x"));
  EXPECT_THAT(Outputs(model), ElementsAre("again", "rows", "scaled"));
  EXPECT_EQ(model.output(1).dtype, static_cast<uint32_t>(WASINN_DTYPE_I32));
  EXPECT_EQ(model.output(1).rank, 0);
  EXPECT_THAT(std::vector(model.input(1).dims, model.input(1).dims + 2), ElementsAre(-1, 2));
  EXPECT_THAT(host.table().describe(model.get()),
              AllOf(HasSubstr(R"("signature":"serving_default")"),
                    HasSubstr(R"("signatures":["negate","serving_default"])"), HasSubstr(R"("tags":["serve"])")));
  Context context(model);
  const Tensor bias = Floats({2}, {100, 200}), x = Floats({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(Compute(&context, {bias, x}).bytes, x.bytes);
  EXPECT_THAT(MustGet(&context, 1).As<int32_t>(), ElementsAre(2));
  EXPECT_THAT(MustGet(&context, 2).As<float>(), ElementsAre(102, 206, 106, 212));
}

TEST(TensorFlowSavedModels, ReportTheSignatureThatIsComputedWithoutTheKey) {
  const Host host;
  std::string bytes = ModelBytes("two_signatures/saved_model.pb");
  const std::string path = "two_signatures/saved_model.pb", name = "serving_default";
  const LoadedModel usual(host, bytes, ByName(path));
  EXPECT_THAT(
      host.log(),
      HasSubstr(R"(the SavedModel has the signatures ["negate","serving_default"]: 'serving_default' is computed)"));
  for (size_t at = 0; (at = bytes.find(name, at)) != std::string::npos;)
    bytes.replace(at, name.size(), "serving_another");
  const LoadedModel other(host, bytes, ByName(path));
  EXPECT_THAT(Outputs(other), ElementsAre("negative", "text"));
  EXPECT_THAT(host.log(), HasSubstr("'negate' is computed"));
}

TEST(TensorFlowSavedModels, HaveSeveralSignaturesAndTags) {
  const Host host;
  const std::string two = ModelBytes("two_signatures/saved_model.pb"), path = "two_signatures/saved_model.pb";
  for (const bool by_guest : {false, true}) {
    const std::string config = R"({"signature": "negate"})";
    const LoadedModel negate(host, two, by_guest ? ByName(path, "{}", config) : ByName(path, config));
    EXPECT_THAT(Outputs(negate), ElementsAre("negative", "text"));
    EXPECT_EQ(negate.output(1).flags, static_cast<uint32_t>(WASINN_IO_STRINGS));
    Context context(negate);
    ASSERT_TRUE(context.Set(0, Floats({2}, {1, 2})));
    ASSERT_TRUE(context.Compute());
    const Tensor negative = MustGet(&context);
    EXPECT_THAT(negative.As<float>(), ElementsAre(-2, -6));
    EXPECT_THAT(TextsOf(MustGet(&context, 1)), ElementsAre("1.000000", "2.000000"));
  }
  const Model absent(host, two, ByName(path, R"({"signature": "none"})"));
  EXPECT_EQ(absent.loaded().code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(absent.loaded().message, HasSubstr("no signature 'none': found "));
  EXPECT_THAT(absent.loaded().message, Not(HasSubstr("__saved_model")));
  const Model some(host, two, ByName(path, R"({"outputs": ["scaled"]})"));
  EXPECT_THAT(Outputs(some), ElementsAre("scaled"));
  EXPECT_EQ(Model(host, two, ByName(path, R"({"outputs": ["scale"]})")).loaded().code, WASINN_ERROR_INVALID_ARGUMENT);

  const std::string tags = ModelBytes("two_tags/saved_model.pb");
  const LoadedModel tenfold(host, tags, ByName("two_tags/saved_model.pb", R"({"tags": ["tenfold", "serve"]})"));
  Context context(tenfold);
  ASSERT_TRUE(context.Set(0, Floats({2}, {1, 2})));
  ASSERT_TRUE(context.Compute());
  const Tensor y = MustGet(&context, 2);
  EXPECT_THAT(y.As<float>(), ElementsAre(10, 20));
  const Model no_tags(host, tags, ByName("two_tags/saved_model.pb", R"({"tags": ["gpu"]})"));
  EXPECT_EQ(no_tags.loaded().code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(no_tags.loaded().message, HasSubstr("found [serve], [serve, tenfold]"));
}

TEST(TensorFlowSavedModels, FromBytesAreAClearError) {
  const Host host;
  const Model model(host, ModelBytes("two_signatures/saved_model.pb"), Graph());
  EXPECT_EQ(model.loaded().code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_THAT(model.loaded().message, HasSubstr("loaded by the name"));
}

TEST(TensorFlowSavedModels, WithoutTheirVariablesAreAnError) {
  const Host host;
  const testing::TestFolder folder;
  const std::string bytes = ModelBytes("two_signatures/saved_model.pb");
  const Model model(host, bytes, {.encoding = "tensorflow", .path = folder.Write("saved_model.pb", bytes)});
  EXPECT_FALSE(model.loaded());
  EXPECT_THAT(model.loaded().message, HasSubstr(folder.path().string()));
}

TEST(TensorFlowErrors, WrongConfigurationIsNamed) {
  const Host host;
  EXPECT_THAT(Model(host, ModelBytes("mean.pb"), ByName("mean.pb", R"({"allow_file_ops": "yes"})")).loaded().message,
              HasSubstr("allow_file_ops"));
}

TEST(TensorFlowErrors, GraphsThatCannotRunFailWhenTheyAreLoaded) {
  const Host host;
  // An input that no node gives, a cycle, two nodes of one name, an attribute that is missing.
  const std::string type = TypeAttribute("T", 1);
  for (const std::string& bytes :
       {TfGraph({TfNode("y", "Identity", {"none"}, type)}), TfGraph({TfNode("y", "Identity", {"x:3"}, type)}),
        TfGraph({TfNode("a", "Identity", {"b"}, type), TfNode("b", "Identity", {"a"}, type)}),
        TfGraph({TfNode("x", "Identity", {"x"}, type)}), TfGraph({TfNode("y", "Identity", {"x"})}),
        TfGraph({TfNode("y", "Identity", {"x"}, TypeAttribute("T", 3))})}) {
    const Model model(host, bytes, Graph());
    EXPECT_FALSE(model.loaded());
    EXPECT_FALSE(model.loaded().message.empty());
  }
  const LoadedModel good(host, TfGraph({TfNode("y", "Identity", {"x"}, type)}), Graph());
}

TEST(TensorFlowErrors, WrongInputsAreNamed) {
  auto&& [host, model, context] = Opened(ModelBytes("dynamic.pb"), Graph());
  EXPECT_EQ(context.Set(0, MakeTensor<int32_t>(WASINN_DTYPE_I32, {1, 1}, {1})).code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(context.Set(0, Floats({2, 2}, {1})).code, WASINN_ERROR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace wasinn::test
