// Opening the backend, and what models it loads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backends/tensorflow_native.h"
#include "backends/tensorflow_writer.h"
#include "backends/test_host.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

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

TEST(TensorFlowOpen, TellsWhatItRunsOn) {
  const Host host;
  ASSERT_TRUE(host.opened()) << host.opened().message;
  EXPECT_STREQ(host.info()->framework, "TensorFlow");
  EXPECT_THAT(host.info()->version, MatchesRegex("2\\.[0-9]+\\.[0-9]+.*"));
  EXPECT_TRUE(std::filesystem::exists(host.info()->library)) << host.info()->library;
  EXPECT_STREQ(host.info()->devices, "cpu");
  EXPECT_STREQ(host.table().name, "tensorflow");
  ASSERT_EQ(host.table().n_formats, 1u);
  EXPECT_STREQ(host.table().formats[0]->name, "tensorflow");
}

TEST(TensorFlowOpen, SaysWhatIsMissingAndHowToGetIt) {
  const Host host(R"({"library": "/nonexistent/libtensorflow_cc.so.2"})");
  EXPECT_EQ(host.opened().code, WASINN_UNSUPPORTED_OPERATION);
  EXPECT_THAT(host.opened().message,
              AllOf(HasSubstr("/nonexistent/libtensorflow_cc.so.2"), HasSubstr("scripts/deps.sh tensorflow")));
  EXPECT_EQ(Host(R"({"library": "libtensorflow_cc.so.2"})").opened().code, WASINN_INVALID_ARGUMENT);
  EXPECT_EQ(Host(R"({"threads": 3})", 2).opened().code, WASINN_INVALID_ARGUMENT);
}

TEST(TensorFlowOpen, TakesAFolderToo) {
  const auto folder = std::filesystem::path(testing::FrameworkFile("tensorflow")).parent_path();
  const Host host("{\"library\": \"" + folder.string() + "\"}");
  EXPECT_TRUE(host.opened()) << host.opened().message;
  const Host second;
  EXPECT_TRUE(second.opened()) << second.opened().message;
}

// A process of its own, where TensorFlow is not open yet, so that it writes what it writes when it is opened. What
// others write meanwhile is not lost. It says most where oneDNN is on, which it is by default on some CPUs only.
TEST(TensorFlowOpen, WritesNothingToStderrAndLogsItInstead) {
  if (const char* role = getenv("WASINN_TEST_ROLE"); role != nullptr && std::string(role) == "open") {
    const Host host;
    const Model model(host, ModelBytes("dynamic.pb"), Graph());
    Context context(model);
    context.Set(0, Floats({1, 1}, {1}));
    const bool good = context.Compute() && host.log().find("oneDNN") != std::string::npos;
    std::fputs("own words\n", stderr);
    std::_Exit(good ? 0 : 1);
  }
  const auto self = std::filesystem::canonical("/proc/self/exe").string();
  const auto file = std::filesystem::path(::testing::TempDir()) / ("stderr" + std::to_string(getpid()));
  const std::string command = "TF_ENABLE_ONEDNN_OPTS=1 WASINN_TEST_ROLE=open " + self +
                              " --gtest_filter=TensorFlowOpen.WritesNothingToStderrAndLogsItInstead >/dev/null 2>" +
                              file.string();
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(ReadFile(file.string()), "own words\n");
  std::filesystem::remove(file);
}

TEST(TensorFlowTargets, GpuAndTpuWithoutADeviceAreAnErrorOrTheCpu) {
  const Host host;
  const std::string bytes = ModelBytes("dynamic.pb");
  for (const wasinn_target target : {WASINN_GPU, WASINN_TPU}) {
    LoadOptions options = Graph();
    options.target = target;
    const Model refused(host, bytes, options);
    EXPECT_EQ(refused.loaded().code, WASINN_UNSUPPORTED_OPERATION);
    EXPECT_THAT(refused.loaded().message, HasSubstr(target == WASINN_GPU ? "target gpu" : "target tpu"));
  }
  EXPECT_EQ(host.log().find("using the CPU"), std::string::npos);
  LoadOptions fallback = Graph();
  fallback.target = WASINN_GPU;
  fallback.cpu_fallback = true;
  for (int i = 0; i < 2; ++i) {
    const Model served(host, bytes, fallback);
    EXPECT_TRUE(served.loaded());
    EXPECT_THAT(host.table().describe(served.get()), HasSubstr(R"("device":"CPU")"))
        << "not the one that was asked for";
  }
  const size_t first = host.log().find("using the CPU");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(host.log().find("using the CPU", first + 1), std::string::npos);
  LoadOptions automatic = Graph();
  automatic.target = WASINN_AUTO;
  EXPECT_TRUE(Model(host, bytes, automatic).loaded());
}

TEST(TensorFlowGraphs, LoadFromBytesAndByName) {
  const Host host;
  for (const LoadOptions& options : {Graph(), ByName("mean.pb")}) {
    const Model model(host, ModelBytes("mean.pb"), options);
    ASSERT_TRUE(model.loaded()) << model.loaded().message;
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
  Context context(one);
  ASSERT_TRUE(context.Set(0, MakeTensor<int32_t>(WASINN_I32, {6}, {7, 8, 7, 7, 8, 9})));
  ASSERT_TRUE(context.Compute());
  Tensor indices;
  ASSERT_TRUE(context.Get(0, &indices));
  EXPECT_THAT(indices.As<int32_t>(), ElementsAre(0, 1, 0, 0, 1, 2));
  for (const char* absent : {"none", "unique:2", "unique:-1", "unique:x", ":", ""}) {
    options.host_config = std::string(R"({"outputs": [")") + absent + "\"]}";
    const Model model(host, ModelBytes("unique.pb"), options);
    EXPECT_EQ(model.loaded().code, WASINN_INVALID_ARGUMENT) << absent;
    EXPECT_THAT(model.loaded().message, HasSubstr(std::string("no tensor '") + absent + "'"));
  }
}

TEST(TensorFlowGraphs, WhatIsNoTensorOfNumbersIsUnservable) {
  const Host host;
  for (const char* name : {"identity_string.pb", "identity_complex64.pb"}) {
    const Model model(host, ModelBytes(name), Graph());
    ASSERT_TRUE(model.loaded()) << model.loaded().message;
    EXPECT_EQ(model.input(0).flags, static_cast<uint32_t>(WASINN_IO_UNSERVABLE));
    EXPECT_EQ(model.input(0).dtype, static_cast<uint32_t>(WASINN_DTYPE_UNKNOWN));
    Context context(model);
    const Result set = context.Set(0, Floats({2, 3}, std::vector<float>(6)));
    EXPECT_EQ(set.code, WASINN_UNSUPPORTED_OPERATION);
    EXPECT_THAT(set.message, HasSubstr(model.input(0).type_name));
  }
  const Model text(host, ModelBytes("unique_string.pb"), Graph());
  Context context(text);
  ASSERT_TRUE(context.Set(0, Floats({2}, {1, 2})));
  ASSERT_TRUE(context.Compute());
  Tensor none;
  const Result got = context.Get(0, &none);
  EXPECT_EQ(got.code, WASINN_UNSUPPORTED_OPERATION);
  EXPECT_THAT(got.message, HasSubstr("DT_STRING"));
}

TEST(TensorFlowGraphs, MayCallFunctions) {
  const Host host;
  const Model model(host, ModelBytes("function.pb"), Graph());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({2}, {1, 2})));
  ASSERT_TRUE(context.Compute());
  Tensor y;
  ASSERT_TRUE(context.Get(0, &y));
  EXPECT_THAT(y.As<float>(), ElementsAre(2, 4));
}

TEST(TensorFlowSavedModels, LoadByNameWithTheirVariables) {
  const Host host;
  const Model model(host, ModelBytes("two_signatures/saved_model.pb"), ByName("two_signatures/saved_model.pb"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  EXPECT_THAT(Inputs(model), ElementsAre("bias", "x"));
  EXPECT_THAT(Outputs(model), ElementsAre("again", "rows", "scaled"));
  EXPECT_EQ(model.output(1).dtype, static_cast<uint32_t>(WASINN_I32));
  EXPECT_EQ(model.output(1).rank, 0);
  EXPECT_THAT(std::vector(model.input(1).dims, model.input(1).dims + 2), ElementsAre(-1, 2));
  EXPECT_THAT(host.table().describe(model.get()),
              AllOf(HasSubstr(R"("signature":"serving_default")"),
                    HasSubstr(R"("signatures":["negate","serving_default"])"), HasSubstr(R"("tags":["serve"])")));
  Context context(model);
  const Tensor bias = Floats({2}, {100, 200}), x = Floats({2, 2}, {1, 2, 3, 4});
  ASSERT_TRUE(context.Set(0, bias));
  ASSERT_TRUE(context.Set(1, x));
  const Result computed = context.Compute();
  ASSERT_TRUE(computed) << computed.message;
  Tensor again, rows, scaled;
  ASSERT_TRUE(context.Get(0, &again));
  ASSERT_TRUE(context.Get(1, &rows));
  ASSERT_TRUE(context.Get(2, &scaled));
  EXPECT_EQ(again.bytes, x.bytes);
  EXPECT_THAT(rows.As<int32_t>(), ElementsAre(2));
  EXPECT_THAT(scaled.As<float>(), ElementsAre(102, 206, 106, 212));
  // The names of TensorFlow's own, which `saved_model_cli show` tells.
  const auto native =
      RunNativeSavedModel(ModelPath("two_signatures"), {"serve"},
                          {{"serving_default_x", x}, {"serving_default_bias", bias}}, {"StatefulPartitionedCall_1:2"});
  EXPECT_EQ(native.at(0).bytes, scaled.bytes);
}

TEST(TensorFlowSavedModels, HaveSeveralSignaturesAndTags) {
  const Host host;
  const std::string two = ModelBytes("two_signatures/saved_model.pb"), path = "two_signatures/saved_model.pb";
  for (const bool by_guest : {false, true}) {
    const std::string config = R"({"signature": "negate"})";
    const Model negate(host, two, by_guest ? ByName(path, "{}", config) : ByName(path, config));
    ASSERT_TRUE(negate.loaded()) << negate.loaded().message;
    EXPECT_THAT(Outputs(negate), ElementsAre("negative", "text"));
    EXPECT_EQ(negate.output(1).flags, static_cast<uint32_t>(WASINN_IO_UNSERVABLE));
    Context context(negate);
    ASSERT_TRUE(context.Set(0, Floats({2}, {1, 2})));
    ASSERT_TRUE(context.Compute());
    Tensor negative;
    ASSERT_TRUE(context.Get(0, &negative));
    EXPECT_THAT(negative.As<float>(), ElementsAre(-2, -6));
  }
  const Model absent(host, two, ByName(path, R"({"signature": "none"})"));
  EXPECT_EQ(absent.loaded().code, WASINN_INVALID_ARGUMENT);
  EXPECT_THAT(absent.loaded().message, HasSubstr("no signature 'none': found "));
  EXPECT_THAT(absent.loaded().message, Not(HasSubstr("__saved_model")));
  const Model some(host, two, ByName(path, R"({"outputs": ["scaled"]})"));
  EXPECT_THAT(Outputs(some), ElementsAre("scaled"));
  EXPECT_EQ(Model(host, two, ByName(path, R"({"outputs": ["scale"]})")).loaded().code, WASINN_INVALID_ARGUMENT);

  const std::string tags = ModelBytes("two_tags/saved_model.pb");
  const Model tenfold(host, tags, ByName("two_tags/saved_model.pb", R"({"tags": ["tenfold", "serve"]})"));
  ASSERT_TRUE(tenfold.loaded()) << tenfold.loaded().message;
  Context context(tenfold);
  ASSERT_TRUE(context.Set(0, Floats({2}, {1, 2})));
  ASSERT_TRUE(context.Compute());
  Tensor y;
  ASSERT_TRUE(context.Get(2, &y));
  EXPECT_THAT(y.As<float>(), ElementsAre(10, 20));
  const Model no_tags(host, tags, ByName("two_tags/saved_model.pb", R"({"tags": ["gpu"]})"));
  EXPECT_EQ(no_tags.loaded().code, WASINN_INVALID_ARGUMENT);
  EXPECT_THAT(no_tags.loaded().message, HasSubstr("found [serve], [serve, tenfold]"));
}

TEST(TensorFlowSavedModels, FromBytesAreAClearError) {
  const Host host;
  const Model model(host, ModelBytes("two_signatures/saved_model.pb"), Graph());
  EXPECT_EQ(model.loaded().code, WASINN_UNSUPPORTED_OPERATION);
  EXPECT_THAT(model.loaded().message, HasSubstr("loaded by the name"));
}

TEST(TensorFlowSavedModels, WithoutTheirVariablesAreAnError) {
  const Host host;
  const auto folder = std::filesystem::path(::testing::TempDir()) / ("saved" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string bytes = ModelBytes("two_signatures/saved_model.pb");
  std::ofstream(folder / "saved_model.pb", std::ios::binary) << bytes;
  const Model model(host, bytes, {.encoding = "tensorflow", .path = (folder / "saved_model.pb").string()});
  EXPECT_FALSE(model.loaded());
  EXPECT_THAT(model.loaded().message, HasSubstr(folder.string()));
  std::filesystem::remove_all(folder);
}

TEST(TensorFlowErrors, BadBytesAreNamed) {
  const Host host;
  EXPECT_EQ(Model(host, "", Graph()).loaded().code, WASINN_INVALID_ENCODING);
  EXPECT_EQ(Model(host, "no model at all, this text", Graph()).loaded().code, WASINN_INVALID_ENCODING);
  const std::string graph = ModelBytes("mean.pb");
  EXPECT_EQ(Model(host, graph.substr(0, graph.size() / 2), Graph()).loaded().code, WASINN_INVALID_ENCODING);
  LoadOptions onnx;
  EXPECT_EQ(Model(host, graph, onnx).loaded().code, WASINN_INVALID_ENCODING);
  LoadOptions two = Graph();
  two.more_bytes = {"more"};
  const Model blobs(host, graph, two);
  EXPECT_EQ(blobs.loaded().code, WASINN_INVALID_ARGUMENT);
  EXPECT_THAT(blobs.loaded().message, HasSubstr("one blob: found 2"));
  LoadOptions config = Graph();
  config.host_config = R"({"allow_file_ops": "yes"})";
  EXPECT_THAT(Model(host, graph, config).loaded().message, HasSubstr("allow_file_ops"));
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
  const Model good(host, TfGraph({TfNode("y", "Identity", {"x"}, type)}), Graph());
  EXPECT_TRUE(good.loaded()) << good.loaded().message;
}

TEST(TensorFlowErrors, WrongInputsAreNamed) {
  const Host host;
  const Model model(host, ModelBytes("dynamic.pb"), Graph());
  Context context(model);
  EXPECT_EQ(context.Set(1, Floats({1, 1}, {1})).code, WASINN_INVALID_ARGUMENT);
  EXPECT_EQ(context.Set(0, MakeTensor<int32_t>(WASINN_I32, {1, 1}, {1})).code, WASINN_INVALID_ARGUMENT);
  EXPECT_EQ(context.Set(0, Floats({2, 2}, {1})).code, WASINN_INVALID_ARGUMENT);
  Tensor none;
  EXPECT_EQ(context.Get(0, &none).code, WASINN_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace wasinn::test
