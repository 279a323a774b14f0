// Models of a guest that nobody trusts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "backends/onnx_writer.h"
#include "backends/test_host.h"

namespace wasinn::test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

std::vector<std::filesystem::path> HostileModels() {
  std::vector<std::filesystem::path> models;
  for (const auto& entry : std::filesystem::directory_iterator(ModelPath("hostile"))) {
    if (entry.path().extension() == ".onnx") models.push_back(entry.path());
  }
  std::sort(models.begin(), models.end());
  return models;
}

TEST(OnnxHostile, NoModelOfAGuestReachesOutOfItself) {
  const Host host;
  const auto models = HostileModels();
  EXPECT_GE(models.size(), 17u);
  for (const auto& path : models) {
    const Model model(host, ReadFile(path));
    EXPECT_EQ(model.loaded().code, WASINN_SECURITY) << path << ": " << model.loaded().message;
    EXPECT_THAT(model.loaded().message, HasSubstr("external data"));
  }
}

TEST(OnnxHostile, ExternalDataWorkBesideAFileOfTheHost) {
  const Host host;
  const std::string bytes = ModelBytes("external.onnx");
  EXPECT_EQ(Model(host, bytes).loaded().code, WASINN_SECURITY);
  LoadOptions options;
  options.path = ModelPath("external.onnx");
  const Model model(host, bytes, options);
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({4}, {10, 20, 30, 40})));
  ASSERT_TRUE(context.Compute());
  EXPECT_EQ(static_cast<const float*>(context.View(0).data)[3], 44);
}

TEST(OnnxHostile, ExternalDataWorkBesideAFileInTheWorkingFolder) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(ModelPath(""));
  const Host host;
  LoadOptions options;
  options.path = "external.onnx";
  const Model model(host, ModelBytes("external.onnx"), options);
  std::filesystem::current_path(before);
  EXPECT_TRUE(model.loaded()) << model.loaded().message;
}

// The bytes that the host read are the model, whatever the file says by now.
TEST(OnnxHostile, AFileThatWasReplacedDoesNotMatter) {
  const Host host;
  LoadOptions options;
  options.path = ModelPath("identity_string.onnx");
  const Model model(host, ModelBytes("mean.onnx"), options);
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  EXPECT_STREQ(model.input(0).name, "image");
}

TEST(OnnxHostile, BrokenBytesAreNoModel) {
  const Host host;
  const std::string good = ModelBytes("mean.onnx");
  EXPECT_EQ(Model(host, "").loaded().code, WASINN_INVALID_ENCODING);
  EXPECT_EQ(Model(host, "not a model at all").loaded().code, WASINN_INVALID_ENCODING);
  EXPECT_EQ(Model(host, std::string(1000, '\xff')).loaded().code, WASINN_INVALID_ENCODING);
  EXPECT_EQ(Model(host, good.substr(0, good.size() / 2)).loaded().code, WASINN_INVALID_ENCODING);
  LoadOptions named;
  named.path = "/nonexistent/model.onnx";
  EXPECT_EQ(Model(host, "not a model at all", named).loaded().code, WASINN_INVALID_ENCODING);
}

TEST(OnnxHostile, InvalidGraphsAreRefused) {
  const Host host;
  const auto with = [](const Proto& node) {
    return ModelOf({.nodes = {node}, .inputs = {Value("x", kFloat, {1})}, .outputs = {Value("y", kFloat, {1})}});
  };
  const Model unknown(host, with(Node("NoSuchOperator", {"x"}, {"y"})));
  EXPECT_THAT(unknown.loaded().code,
              AnyOf(WASINN_INVALID_ARGUMENT, WASINN_RUNTIME_ERROR, WASINN_UNSUPPORTED_OPERATION));
  EXPECT_THAT(unknown.loaded().message, HasSubstr("NoSuchOperator"));
  const Model dangling(host, with(Node("Relu", {"nothing"}, {"y"})));
  EXPECT_THAT(dangling.loaded().code, AnyOf(WASINN_INVALID_ARGUMENT, WASINN_RUNTIME_ERROR));
  const Model cycle(host, ModelOf({.nodes = {Node("Relu", {"b"}, {"a"}), Node("Relu", {"a"}, {"b"})},
                                   .outputs = {Value("b", kFloat, {1})}}));
  EXPECT_FALSE(cycle.loaded());
  const Model future(host, ModelOf({.nodes = {Node("Relu", {"x"}, {"y"})},
                                    .inputs = {Value("x", kFloat, {1})},
                                    .outputs = {Value("y", kFloat, {1})}},
                                   999));
  EXPECT_FALSE(future.loaded());
}

// A name may be anything; what is shown of it ends at its first NUL.
TEST(OnnxHostile, StrangeNamesAreOnlyStrange) {
  const Host host;
  const std::string strange("\xff\xfe%s\n{}\0x", 9);
  const Model model(host, ModelOf({.nodes = {Node("Relu", {strange}, {"y"})},
                                   .inputs = {Value(strange, kFloat, {1})},
                                   .outputs = {Value("y", kFloat, {1})}}));
  if (!model.loaded()) return;
  Context context(model);
  context.Set(0, Floats({1}, {1}));
  context.Compute();
}

TEST(OnnxHostile, NeedsExactlyOneBlob) {
  const Host host;
  const wasinn_load_options options = {
      .struct_size = sizeof(options), .format = "onnx", .host_config = "{}", .guest_config = "{}"};
  wasinn_backend_graph* model = nullptr;
  const Result none = TakeError(host.table().load(host.state(), nullptr, 0, &options, &model));
  EXPECT_EQ(none.code, WASINN_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace wasinn::test
