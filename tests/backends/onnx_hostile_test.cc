// Models of an untrusted guest.
#include "backends/expect.h"
#include "backends/onnx_writer.h"

namespace wasinn::test {
namespace {

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
    EXPECT_EQ(model.loaded().code, WASINN_ERROR_SECURITY) << path << ": " << model.loaded().message;
    EXPECT_THAT(model.loaded().message, HasSubstr("external data"));
  }
}

TEST(OnnxHostile, ExternalDataWorkBesideAFileOfTheHost) {
  const Host host;
  const std::string bytes = ModelBytes("external.onnx");
  EXPECT_EQ(Model(host, bytes).loaded().code, WASINN_ERROR_SECURITY);
  LoadOptions options;
  options.path = ModelPath("external.onnx");
  const LoadedModel model(host, bytes, options);
  Context context(model);
  EXPECT_EQ(Compute(&context, {Floats({4}, {10, 20, 30, 40})}).As<float>()[3], 44);
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
  const LoadedModel model(host, ModelBytes("mean.onnx"), options);
  EXPECT_STREQ(model.input(0).name, "image");
}

TEST(OnnxHostile, InvalidGraphsAreRefused) {
  const Host host;
  const Model unknown(host, OneNode("NoSuchOperator", {1}));
  EXPECT_THAT(unknown.loaded().code,
              AnyOf(WASINN_ERROR_INVALID_ARGUMENT, WASINN_ERROR_RUNTIME, WASINN_ERROR_UNSUPPORTED_OPERATION));
  EXPECT_THAT(unknown.loaded().message, HasSubstr("NoSuchOperator"));
  for (const auto& [nodes, output] :
       {std::pair<std::vector<Proto>, const char*>({Node("Relu", {"nothing"}, {"y"})}, "y"),
        {{Node("Relu", {"b"}, {"a"}), Node("Relu", {"a"}, {"b"})}, "b"}}) {
    const Model model(host, ModelOf({.nodes = nodes, .outputs = {Value(output, kFloat, {1})}}));
    EXPECT_THAT(model.loaded().code, AnyOf(WASINN_ERROR_INVALID_ARGUMENT, WASINN_ERROR_RUNTIME));
  }
  const std::string future = WriteModel(Graph{.nodes = {Node("Relu", {"x"}, {"y"})},
                                              .inputs = {Value("x", kFloat, {1})},
                                              .outputs = {Value("y", kFloat, {1})}}
                                            .Write(),
                                        999)
                                 .bytes();
  EXPECT_FALSE(Model(host, future).loaded());
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
  EXPECT_EQ(none.code, WASINN_ERROR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace wasinn::test
