// What models are loaded from, and what a guest cannot do with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "backends/openvino_native.h"
#include "backends/test_host.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kRoot = testing::InSources("");
const std::string kTiny = kRoot + "/tests/models/tiny/";

LoadOptions Guest() {
  LoadOptions options;
  options.encoding = "openvino";
  options.keeps_bytes = true;
  return options;
}

LoadOptions Named(const std::string& path, const std::string& encoding = "openvino") {
  LoadOptions options = Guest();
  options.encoding = encoding;
  options.path = path;
  return options;
}

std::string Replace(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// A folder that goes with the test.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("wasinn-openvino-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string Write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }

 private:
  const std::filesystem::path path_;
};

void ExpectTwoInTwoOut(const Model& model) {
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  EXPECT_STREQ(model.input(0).name, "a");
  EXPECT_STREQ(model.input(1).name, "b");
  EXPECT_STREQ(model.output(0).name, "difference");
  EXPECT_STREQ(model.output(1).name, "sum");
  EXPECT_EQ(model.output(1).dtype, uint32_t{WASINN_F32});
  EXPECT_THAT(std::vector<int64_t>(model.output(1).dims, model.output(1).dims + model.output(1).rank),
              ElementsAre(2, 2));
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({2, 2}, {5, 6, 7, 8})));
  ASSERT_TRUE(context.Set(1, Floats({2, 2}, {1, 1, 1, 1})));
  const Result computed = context.Compute();
  ASSERT_TRUE(computed) << computed.message;
  Tensor sum;
  ASSERT_TRUE(context.Get(1, &sum));
  EXPECT_THAT(sum.As<float>(), ElementsAre(6, 7, 8, 9));
}

TEST(OpenVinoLoad, TakesOneBlobWhereThereAreNoWeights) {
  const Host host;
  ExpectTwoInTwoOut(Model(host, IrXml("two_in_two_out"), Guest()));
  LoadOptions two = Guest();
  two.more_bytes = {""};
  ExpectTwoInTwoOut(Model(host, IrXml("two_in_two_out"), two));
}

TEST(OpenVinoLoad, TakesOnnxFromBytesAndByName) {
  const Host host;
  const std::string path = kTiny + "two_in_two_out.onnx";
  const std::string bytes = ReadFile(path);
  ExpectTwoInTwoOut(Model(host, bytes, Guest()));
  ExpectTwoInTwoOut(Model(host, bytes, Named(path)));
  // Where a host says that this backend is to serve it.
  ExpectTwoInTwoOut(Model(host, bytes, Named(path, "onnx")));
}

TEST(OpenVinoLoad, FindsWeightsBesideANamedModel) {
  const Host host;
  const Tensor in = Floats({1, 64}, std::vector<float>(64, 0.5f));
  const std::string want = NativeOpenVino().Run(ModelPath("matmul.xml"), {in}).at(0).bytes;
  const Model model(host, IrXml("matmul"), Named(ModelPath("matmul.xml")));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  ASSERT_TRUE(context.Set(0, in));
  ASSERT_TRUE(context.Compute());
  Tensor out;
  ASSERT_TRUE(context.Get(0, &out));
  EXPECT_EQ(out.bytes, want);
  // A guest's model finds nothing beside it, wherever the host's working folder is.
  const Model guest(host, IrXml("matmul"), Guest());
  EXPECT_EQ(guest.loaded().code, WASINN_INVALID_ENCODING) << guest.loaded().message;
}

TEST(OpenVinoLoad, FindsExternalDataOfANamedOnnxModelOnly) {
  const Host host;
  const std::string bytes = ReadFile(kTiny + "external.onnx");
  const Model named(host, bytes, Named(kTiny + "external.onnx"));
  ASSERT_TRUE(named.loaded()) << named.loaded().message;
  Context context(named);
  ASSERT_TRUE(context.Set(0, Floats({4}, {0, 0, 0, 0})));
  ASSERT_TRUE(context.Compute());
  Tensor out;
  ASSERT_TRUE(context.Get(0, &out));
  EXPECT_THAT(out.As<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(Model(host, bytes, Guest()).loaded().code, WASINN_SECURITY);
}

// As a model of TensorFlow is written: a protocol buffer of nodes.
std::string Field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(bytes.size()) + bytes;
}
std::string GraphNode(const std::string& name, const std::string& op, const std::string& input,
                      const std::string& attribute) {
  std::string node = Field(1, name) + Field(2, op);
  if (!input.empty()) node += Field(3, input);
  return Field(1, node + Field(5, Field(1, attribute) + Field(2, std::string("\x30\x01", 2))));  // type: float
}

TEST(OpenVinoLoad, TakesTensorFlowByNameOnly) {
  const Host host;
  const Folder folder;
  const std::string bytes = GraphNode("x", "Placeholder", "", "dtype") + GraphNode("y", "Relu", "x", "T");
  const std::string path = folder.Write("relu.pb", bytes);
  for (const char* encoding : {"openvino", "tensorflow"}) {
    const Model model(host, bytes, Named(path, encoding));
    // The shape of the input is open, and CPUs take no open rank; the frontend has read it all the same.
    EXPECT_THAT(model.loaded().message, HasSubstr("dynamic rank"));
  }
  LoadOptions guest = Guest();
  guest.encoding = "tensorflow";
  EXPECT_EQ(Model(host, bytes, guest).loaded().code, WASINN_UNSUPPORTED_OPERATION);
  EXPECT_EQ(Model(host, bytes, Guest()).loaded().code, WASINN_INVALID_ENCODING);
}

// The digits network in formats of other frameworks, against OpenVINO called natively.
TEST(OpenVinoLoad, TakesDigitsOfOtherFrameworksByName) {
  const Host host;
  const NativeOpenVino native;
  for (const auto& [name, encoding] :
       {std::pair("digits.tflite", "tensorflowlite"), std::pair("digits.pb", "tensorflow")}) {
    const std::string path = kRoot + "/models/" + name;
    const Model model(host, ReadFile(path), Named(path, encoding));
    ASSERT_TRUE(model.loaded()) << name << ": " << model.loaded().message;
    Tensor in{WASINN_F32, {}, ""};
    int64_t n = 1;
    for (int i = 0; i < model.input(0).rank; ++i) {
      in.dims.push_back(model.input(0).dims[i] < 0 ? 1 : model.input(0).dims[i]);
      n *= in.dims.back();
    }
    ASSERT_EQ(n, 64);
    for (int64_t i = 0; i < n; ++i) {
      const float value = static_cast<float>(i % 9) / 8;
      in.bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    Context context(model);
    ASSERT_TRUE(context.Set(0, in));
    const Result computed = context.Compute();
    ASSERT_TRUE(computed) << computed.message;
    Tensor out;
    ASSERT_TRUE(context.Get(0, &out));
    EXPECT_EQ(out.bytes.size(), 40u);
    EXPECT_EQ(out.bytes, native.Run(path, {in}).at(0).bytes) << name;
  }
}

TEST(OpenVinoLoad, NamesPortsWithoutAName) {
  const Host host;
  const Model model(host, IrXml("unnamed"), Guest());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  // OpenVINO makes them of the nodes'.
  EXPECT_THAT(model.input(0).name, HasSubstr("Parameter"));
  EXPECT_THAT(model.output(0).name, HasSubstr("Result"));
}

TEST(OpenVinoLoad, RefusesOtherNumbersOfBlobsAndOtherEncodings) {
  const Host host;
  LoadOptions three = IrOptions("matmul");
  three.more_bytes.push_back("more");
  EXPECT_EQ(Model(host, IrXml("matmul"), three).loaded().code, WASINN_INVALID_ARGUMENT);
  EXPECT_EQ(Model(host, "", Guest()).loaded().code, WASINN_INVALID_ENCODING);
  LoadOptions other = Guest();
  other.encoding = "ggml";
  EXPECT_EQ(Model(host, IrXml("two_in_two_out"), other).loaded().code, WASINN_INVALID_ENCODING);
  LoadOptions onnx = Guest();
  onnx.more_bytes = {"weights"};
  EXPECT_EQ(Model(host, ReadFile(kTiny + "mean.onnx"), onnx).loaded().code, WASINN_INVALID_ARGUMENT);
}

TEST(OpenVinoLoad, SaysWhatIsNoModel) {
  const Host host;
  for (const char* text : {"no model", "<", "<net", "<html></html>", "<net></net>", "GGUF\x03", "\x80\x02}"}) {
    const Model model(host, text, Guest());
    EXPECT_EQ(model.loaded().code, WASINN_INVALID_ENCODING) << text << ": " << model.loaded().message;
  }
  LoadOptions short_weights = IrOptions("matmul");
  short_weights.more_bytes[0].resize(8191);
  EXPECT_EQ(Model(host, IrXml("matmul"), short_weights).loaded().code, WASINN_INVALID_ENCODING);
}

// Without a mark that says so, but an XML reader sees it.
std::string InUtf16(const std::string& text) {
  std::string wide;
  for (const char c : text) wide += {c, '\0'};
  return wide;
}

TEST(OpenVinoHostile, ReachesNoFileThroughAnIr) {
  const Host host;
  const Folder folder;
  const std::string weights = folder.Write("secret.bin", ReadFile(ModelPath("matmul.bin")));
  for (const std::string& more :
       {"<__weights_path value=\"" + weights + "\"/>", "<attribute name=\"weights_path\" value=\"" + weights + "\"/>",
        "<a name=\"__weights&#95;path\" value=\"" + weights + "\"/>"}) {
    const std::string xml = Replace(IrXml("matmul"), "</layers>", "</layers><rt_info>" + more + "</rt_info>");
    for (const std::string& bytes : {xml, InUtf16(xml)}) {
      const Model model(host, bytes, IrOptions("matmul"));
      EXPECT_EQ(model.loaded().code, WASINN_SECURITY) << more << ": " << model.loaded().message;
    }
  }
}

TEST(OpenVinoHostile, ReachesNoFileThroughOnnx) {
  const Host host;
  for (const auto& entry : std::filesystem::directory_iterator(kTiny + "hostile")) {
    if (entry.path().extension() != ".onnx") continue;
    const Model model(host, ReadFile(entry.path()), Guest());
    EXPECT_EQ(model.loaded().code, WASINN_SECURITY) << entry.path() << ": " << model.loaded().message;
  }
}

}  // namespace
}  // namespace wasinn::test
