// The forms of models, and attacks with them.
#include "backends/expect.h"
#include "backends/openvino_models.h"
#include "backends/tensorflow_writer.h"
#include "support/files.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

const std::string kRoot = testing::InSources("");
const std::string kTiny = kRoot + "/tests/models/tiny/";

LoadOptions Named(const std::string& path, const std::string& encoding = "openvino") {
  LoadOptions options = OpenVinoOptions();
  options.encoding = encoding;
  options.path = path;
  return options;
}

std::string Replace(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(OpenVinoTooNew, SaysWhatIsReadAndWhatToDo) {
  const Host host;
  const std::string ir = IrXml("dynamic");
  const Model version(host, Replace(ir, "version=\"11\"", "version=\"99\""), IrOptions("dynamic"));
  EXPECT_EQ(version.loaded().code, WASINN_ERROR_INVALID_ENCODING);
  EXPECT_THAT(version.loaded().message,
              AllOf(HasSubstr("IR version 99"), HasSubstr("newer than OpenVINO "), HasSubstr("known are 10 and 11"),
                    HasSubstr("or convert the model again")));
  const Model set(host, Replace(ir, "version=\"opset1\"", "version=\"opset99\""), IrOptions("dynamic"));
  EXPECT_THAT(set.loaded().message, AllOf(HasSubstr("opset99"), HasSubstr("newer than OpenVINO ")));
}

void ExpectTwoInTwoOut(const Model& model) {
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  EXPECT_STREQ(model.input(0).name, "a");
  EXPECT_STREQ(model.input(1).name, "b");
  EXPECT_STREQ(model.output(0).name, "difference");
  EXPECT_STREQ(model.output(1).name, "sum");
  EXPECT_EQ(model.output(1).dtype, uint32_t{WASINN_DTYPE_F32});
  EXPECT_THAT(std::vector<int64_t>(model.output(1).dims, model.output(1).dims + model.output(1).rank),
              ElementsAre(2, 2));
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({2, 2}, {5, 6, 7, 8})));
  ASSERT_TRUE(context.Set(1, Floats({2, 2}, {1, 1, 1, 1})));
  MustCompute(&context);
  const Tensor sum = MustGet(&context, 1);
  EXPECT_THAT(sum.As<float>(), ElementsAre(6, 7, 8, 9));
}

TEST(OpenVinoLoad, TakesOneBlobWhereThereAreNoWeights) {
  const Host host;
  ExpectTwoInTwoOut(Model(host, IrXml("two_in_two_out"), OpenVinoOptions()));
  LoadOptions two = OpenVinoOptions();
  two.more_bytes = {""};
  ExpectTwoInTwoOut(Model(host, IrXml("two_in_two_out"), two));
}

TEST(OpenVinoLoad, TakesOnnxFromBytesAndByName) {
  const Host host;
  const std::string path = kTiny + "two_in_two_out.onnx";
  const std::string bytes = ReadFile(path);
  ExpectTwoInTwoOut(Model(host, bytes, OpenVinoOptions()));
  ExpectTwoInTwoOut(Model(host, bytes, Named(path)));
  // The host has chosen this backend for it.
  ExpectTwoInTwoOut(Model(host, bytes, Named(path, "onnx")));
}

TEST(OpenVinoLoad, FindsWeightsBesideANamedModel) {
  const Host host;
  const std::vector<Tensor> in = {Floats({1, 64}, std::vector<float>(64, 0.5f))};
  const LoadedModel guest(host, IrXml("matmul"), IrOptions("matmul"));
  const LoadedModel named(host, IrXml("matmul"), Named(ModelPath("matmul.xml")));
  EXPECT_EQ(Compute(named, in).bytes, Compute(guest, in).bytes);
  // A guest's model finds nothing next to it, wherever the host's working folder is.
  EXPECT_EQ(Model(host, IrXml("matmul"), OpenVinoOptions()).loaded().code, WASINN_ERROR_INVALID_ENCODING);
}

TEST(OpenVinoLoad, FindsExternalDataOfANamedOnnxModelOnly) {
  const Host host;
  const std::string bytes = ReadFile(kTiny + "external.onnx");
  const LoadedModel named(host, bytes, Named(kTiny + "external.onnx"));
  EXPECT_THAT(Compute(named, {Floats({4}, {0, 0, 0, 0})}).As<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(Model(host, bytes, OpenVinoOptions()).loaded().code, WASINN_ERROR_SECURITY);
}

TEST(OpenVinoLoad, TakesTensorFlowByNameOnly) {
  const Host host;
  const testing::TestFolder folder;
  const std::string bytes = TfGraph({TfNode("y", "Relu", {"x"}, TypeAttribute("T", 1))});
  const std::string path = folder.Write("relu.pb", bytes);
  for (const char* encoding : {"openvino", "tensorflow"}) {
    const Model model(host, bytes, Named(path, encoding));
    // The shape of the input is open, and CPUs take no open rank; the frontend has read it all the same.
    EXPECT_THAT(model.loaded().message, HasSubstr("dynamic rank"));
  }
  LoadOptions guest = OpenVinoOptions();
  guest.encoding = "tensorflow";
  EXPECT_EQ(Model(host, bytes, guest).loaded().code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_EQ(Model(host, bytes, OpenVinoOptions()).loaded().code, WASINN_ERROR_INVALID_ENCODING);
}

// The digits network in each format that the host may name.
TEST(OpenVinoLoad, TakesDigitsOfOtherFrameworksByName) {
  const Host host;
  std::vector<float> pixels(64);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i % 9) / 8;
  std::vector<float> expected;
  for (const auto& [name, encoding] :
       {std::pair("digits.onnx", "onnx"), {"digits.tflite", "tensorflowlite"}, {"digits.pb", "tensorflow"}}) {
    const std::string path = kRoot + "/models/" + name;
    const LoadedModel model(host, ReadFile(path), Named(path, encoding));
    const std::vector<float> scores = Compute(model, {Floats({1, 1, 8, 8}, pixels)}).As<float>();
    if (expected.empty()) expected = scores;
    EXPECT_THAT(scores, ::testing::Pointwise(::testing::FloatNear(0.02f), expected)) << name;
  }
}

TEST(OpenVinoLoad, NamesPortsWithoutAName) {
  const Host host;
  const LoadedModel model(host, IrXml("unnamed"), OpenVinoOptions());
  // OpenVINO makes them of the nodes'.
  EXPECT_THAT(model.input(0).name, HasSubstr("Parameter"));
  EXPECT_THAT(model.output(0).name, HasSubstr("Result"));
}

TEST(OpenVinoLoad, RefusesOtherNumbersOfBlobsAndOtherEncodings) {
  const Host host;
  LoadOptions three = IrOptions("matmul");
  three.more_bytes.push_back("more");
  EXPECT_EQ(Model(host, IrXml("matmul"), three).loaded().code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(Model(host, "", OpenVinoOptions()).loaded().code, WASINN_ERROR_INVALID_ENCODING);
  LoadOptions other = OpenVinoOptions();
  other.encoding = "ggml";
  EXPECT_EQ(Model(host, IrXml("two_in_two_out"), other).loaded().code, WASINN_ERROR_INVALID_ENCODING);
  LoadOptions onnx = OpenVinoOptions();
  onnx.more_bytes = {"weights"};
  EXPECT_EQ(Model(host, ReadFile(kTiny + "mean.onnx"), onnx).loaded().code, WASINN_ERROR_INVALID_ARGUMENT);
}

TEST(OpenVinoLoad, SaysWhatIsNoModel) {
  const Host host;
  for (const char* text : {"no model", "<", "<net", "<html></html>", "<net></net>", "GGUF\x03", "\x80\x02}"}) {
    const Model model(host, text, OpenVinoOptions());
    EXPECT_EQ(model.loaded().code, WASINN_ERROR_INVALID_ENCODING) << text << ": " << model.loaded().message;
  }
  LoadOptions short_weights = IrOptions("matmul");
  short_weights.more_bytes[0].resize(8191);
  EXPECT_EQ(Model(host, IrXml("matmul"), short_weights).loaded().code, WASINN_ERROR_INVALID_ENCODING);
}

// Without a mark that says so, but an XML reader sees it.
std::string InUtf16(const std::string& text) {
  std::string wide;
  for (const char c : text) wide += {c, '\0'};
  return wide;
}

TEST(OpenVinoHostile, ReachesNoFileThroughAnIr) {
  const Host host;
  const testing::TestFolder folder;
  const std::string weights = folder.Write("secret.bin", ReadFile(ModelPath("matmul.bin")));
  for (const std::string& more :
       {"<__weights_path value=\"" + weights + "\"/>", "<attribute name=\"weights_path\" value=\"" + weights + "\"/>",
        "<a name=\"__weights&#95;path\" value=\"" + weights + "\"/>"}) {
    const std::string xml = Replace(IrXml("matmul"), "</layers>", "</layers><rt_info>" + more + "</rt_info>");
    for (const std::string& bytes : {xml, InUtf16(xml)}) {
      const Model model(host, bytes, IrOptions("matmul"));
      EXPECT_EQ(model.loaded().code, WASINN_ERROR_SECURITY) << more << ": " << model.loaded().message;
    }
  }
}

TEST(OpenVinoHostile, ReachesNoFileThroughOnnx) {
  const Host host;
  for (const auto& entry : std::filesystem::directory_iterator(kTiny + "hostile")) {
    if (entry.path().extension() != ".onnx") continue;
    const Model model(host, ReadFile(entry.path()), OpenVinoOptions());
    EXPECT_EQ(model.loaded().code, WASINN_ERROR_SECURITY) << entry.path() << ": " << model.loaded().message;
  }
}

}  // namespace
}  // namespace wasinn::test
