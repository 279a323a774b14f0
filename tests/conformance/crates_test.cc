// Programs on the crates that others published for wasi-nn, which know nothing of wasinn: the crates' own examples and
// tests as they are, and programs of ours that take the same steps with every format. What they compute is what the
// framework gives directly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "forms.h"
#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Of the held-out images.
constexpr size_t kFew = 30;
constexpr char kPrompt[] = "GNU General Public";
constexpr char kGreedy[] = "temp = 0\nn-predict = 16\nthreads = 1\n";

fs::path Write(const fs::path& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return path;
}

HeldOut Few() {
  HeldOut held_out = ReadHeldOut();
  held_out.images.resize(kFew);
  held_out.labels.resize(kFew);
  return held_out;
}

std::vector<Format> FormatsOn(std::string_view framework) {
  std::vector<Format> formats = FormatsWithBytes();
  std::erase_if(formats, [&](const Format& format) { return format.framework != framework; });
  return formats;
}

// Each crate speaks one of the forms.
struct Crate {
  const char* name;
  const char* form;
};
constexpr Crate kStandard = {"wasi-nn", "witx"}, kWasmEdge = {"wasmedge-wasi-nn", "wasmedge"};

// The crates' words for encodings, by their numbers.
constexpr const char* kEncodings[] = {"Openvino", "Onnx", "Tensorflow", "Pytorch", "TensorflowLite"};

void PrintTo(const Crate& crate, std::ostream* out) { *out << crate.name; }

struct CrateCase {
  Format format;
  Crate crate;
};
std::string NameOf(const CrateCase& c) { return std::string(c.format.name) + "_" + c.crate.form; }
void PrintTo(const CrateCase& c, std::ostream* out) { *out << NameOf(c); }

std::vector<CrateCase> Each(const std::vector<Format>& formats,
                            const std::vector<Crate>& crates = {kStandard, kWasmEdge}) {
  std::vector<CrateCase> cases;
  for (const Format& format : formats) {
    for (const Crate& crate : crates) cases.push_back({format, crate});
  }
  return cases;
}

class CratesTest : public ::testing::TestWithParam<CrateCase> {
 protected:
  static const Format& format() { return GetParam().format; }
  static const Crate& crate() { return GetParam().crate; }

  // The tensors of the program, and what the framework itself gives for them.
  Bytes Expect(const Bytes& inputs, const std::string& dims) const {
    return RunReference(format(), Write(folder_.path() / "inputs", inputs), folder_.path(), dims);
  }

  // `config`: lines of the model's configuration.
  CommandResult Run(const std::string& program, const std::vector<std::string>& args,
                    const std::string& config = "") const {
    std::ofstream(folder_.path() / "host.toml") << "[models.model]\npath = \"" << format().path() << "\"\nbackend = \""
                                                << format().framework << "\"\n[models.model.config]\n"
                                                << config;
    return RunGuest({"--config", folder_.path() / "host.toml", "--dialect", crate().form, "--dir",
                     folder_.path().string() + "::/files", "--dir", InSources("models") + "::/models"},
                    program + "-" + crate().name, args);
  }

  // All tensors, by each of these models in turn.
  void CheckInfer(const std::string& dims, const std::vector<std::string>& models, size_t count, const Bytes& expected,
                  const std::string& config = "") const {
    const bool floats = std::string_view(format().type) == "f32";
    std::vector<std::string> args = {floats ? "F32" : "U8", dims, "/files/inputs", "/files/outputs"};
    args.insert(args.end(), models.begin(), models.end());
    const CommandResult run = Run("infer", args, config);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    std::string lines;
    Bytes outputs;
    for (const std::string& model : models) {
      lines += model + " " + std::to_string(count) + "\n";
      outputs.insert(outputs.end(), expected.begin(), expected.end());
    }
    EXPECT_EQ(run.out, lines) << run.err;
    EXPECT_EQ(ToHex(ReadBytes(folder_.path() / "outputs")), ToHex(outputs));
  }

  const TempFolder folder_;
};

TEST_P(CratesTest, Digits) {
  const HeldOut few = Few();
  const Bytes expected = Expect(InputsOf(format(), few), "1,1,8,8");
  EXPECT_GE(CountRight(format(), expected, few.labels), kFew - 1);
  std::vector<std::string> models = {"name:model"};
  for (const std::string encoding : {kEncodings[format().encoding], "Autodetec"}) {
    models.push_back("bytes:" + encoding + ":" + format().guest_files());
  }
  CheckInfer("1,1,8,8", models, kFew, expected);
}
INSTANTIATE_TEST_SUITE_P(, CratesTest, ::testing::ValuesIn(Each(FormatsWithBytes())),
                         [](const auto& c) { return NameOf(c.param); });

// Of language models, which the host configures, any crate gets the whole answer.
class CratesTextTest : public CratesTest {};
TEST_P(CratesTextTest, Completion) {
  const std::string prompt = kPrompt, dims = std::to_string(prompt.size());
  const Bytes expected = Expect({prompt.begin(), prompt.end()}, dims);
  EXPECT_THAT(std::string(expected.begin(), expected.end()), StartsWith(" License"));
  CheckInfer(dims, {"name:model"}, 1, expected, kGreedy);
}

INSTANTIATE_TEST_SUITE_P(, CratesTextTest, ::testing::ValuesIn(Each(TextFormats())),
                         [](const auto& c) { return NameOf(c.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CratesTextTest);

// What LlamaEdge configures, with small sizes.
constexpr char kLlamaEdge[] =
    R"({"enable-log":false,"enable-debug-log":false,"embedding":false,"n-predict":16,"n-gpu-layers":100,"use-mmap":true,)"
    R"("split-mode":"layer","ctx-size":512,"batch-size":512,"ubatch-size":512,"threads":1,"temp":0.0,"top-p":0.9,)"
    R"("repeat-penalty":1.0,"presence-penalty":0.0,"frequency-penalty":0.0,"grammar":"","include_usage":false})";

// What WasmEdge's crate has for them: a configuration by the guest, pieces, errors that say why there are no more.
class CratesPiecesTest : public CratesTest {};
TEST_P(CratesPiecesTest, Completion) {
  const std::string prompt = kPrompt;
  const Bytes expected = Expect({prompt.begin(), prompt.end()}, std::to_string(prompt.size()));
  const CommandResult run = Run("text", {"model", kLlamaEdge, prompt});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const std::vector<std::string> lines = Lines(run.out);
  ASSERT_EQ(lines.size(), 9u) << run.out << run.err;
  EXPECT_EQ(lines[0], "whole " + ToHex(expected));
  EXPECT_THAT(lines[1], HasSubstr(R"("output_tokens":16)"));
  EXPECT_EQ(lines[2], "pieces 16 " + ToHex(expected));
  EXPECT_EQ(lines[3], "end WASI-NN Backend Error: EOS Found");
  EXPECT_THAT(lines[4],
              AllOf(StartsWith("info {"), HasSubstr("\"llama_build_number\":"), HasSubstr("\"llama_commit\":")));
  EXPECT_THAT(lines[5], StartsWith(R"(embedding {"n_embedding":128,"embedding":[)"));
  EXPECT_EQ(std::ranges::count(lines[5], ','), 128);
  EXPECT_EQ(lines[6], "begun " + ToHex({expected.begin(), expected.begin() + std::ssize(std::string(" License"))}));
  EXPECT_EQ(lines[7], "again " + ToHex(expected));
  EXPECT_EQ(lines[8], "unloaded Backend Error: WASI-NN Backend Error: Caller module passed an invalid argument");
}
INSTANTIATE_TEST_SUITE_P(, CratesPiecesTest, ::testing::ValuesIn(Each(TextFormats(), {kWasmEdge})),
                         [](const auto& c) { return NameOf(c.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CratesPiecesTest);

// What the crates' packages have, as it is. All of it is for TensorFlow Lite, and most for a MobileNet, which one package
// brings along.
class PublishedTest : public ::testing::TestWithParam<Crate> {
 protected:
  static CommandResult Run(const std::string& program, const std::filesystem::path& folder,
                           const std::vector<std::string>& args) {
    return RunGuest({"--dialect", GetParam().form, "--dir", folder.string() + "::."}, program + "-" + GetParam().name,
                    args);
  }
};
class PublishedExamplesTest : public PublishedTest {};
class PublishedSuiteTest : public PublishedTest {};

const std::string kSafe = InSources(".deps/share/wasi-nn-crates/wasi-nn-safe");
constexpr char kMobileNet[] = "assets/mobilenet_v1_0.25_224_1_default_1.tflite";

TEST_P(PublishedExamplesTest, FirstPage) {
  const CommandResult run = Run("published", kSafe, {"lib", kMobileNet});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const CommandResult digits = Run("published", InSources("models"), {"lib", "digits.tflite"});
  EXPECT_NE(digits.exit_code, 0) << "its images are no digits";
}

// What the examples compute on it, for they do not look at it.
TEST_P(PublishedExamplesTest, MobileNet) {
  const TempFolder folder;
  std::vector<float> pixels(224 * 224 * 3);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i * i % 255) / 255;
  const fs::path inputs = Write(folder.path() / "inputs", Floats(pixels));
  fs::copy_file(fs::path(kSafe) / kMobileNet, folder.path() / "mobilenet.tflite");
  const CommandResult run =
      Run("infer", folder.path(), {"F32", "1,224,224,3", "inputs", "outputs", "bytes:TensorflowLite:mobilenet.tflite"});
  EXPECT_EQ(run.out, "bytes:TensorflowLite:mobilenet.tflite 1\n") << run.err;
  const std::string model = fs::relative(fs::path(kSafe) / kMobileNet, InSources("models"));
  Format format = FormatsOn("tflite").at(0);
  format.model = model.c_str();
  const Bytes outputs = ReadBytes(folder.path() / "outputs");
  EXPECT_EQ(outputs.size(), 1001 * sizeof(float));
  EXPECT_EQ(ToHex(outputs), ToHex(RunReference(format, inputs, folder.path(), "1,224,224,3")));
}

TEST_P(PublishedExamplesTest, Readme) {
  const TempFolder folder;
  const Format format = FormatsOn("tflite").at(0);
  const HeldOut few = Few();
  const fs::path inputs = Write(folder.path() / "inputs", InputsOf(format, few));
  fs::copy_file(format.path(), folder.path() / "digits.tflite");
  const CommandResult run = Run("published", folder.path(), {"readme", "digits.tflite", "inputs", "outputs"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(ToHex(ReadBytes(folder.path() / "outputs")), ToHex(RunReference(format, inputs, folder.path())));
}

// It compares what this crate computes with what wasi-nn 0.3 does.
TEST_P(PublishedSuiteTest, Passes) {
  const CommandResult run = Run("tests", kSafe, {});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(Lines(run.out), Contains("test test_doc_example ... ok"));
  EXPECT_THAT(Lines(run.out), Contains("test test_inference ... ok"));
  EXPECT_THAT(run.out, HasSubstr("test result: ok. 2 passed; 0 failed"));
  const CommandResult elsewhere = Run("tests", InSources("models"), {});
  EXPECT_NE(elsewhere.exit_code, 0) << "there is no model";
}

std::vector<Crate> IfOnTfLite(std::vector<Crate> crates) {
  if (FormatsOn("tflite").empty()) crates.clear();
  return crates;
}
std::string NameOfForm(const ::testing::TestParamInfo<Crate>& crate) { return crate.param.form; }
INSTANTIATE_TEST_SUITE_P(, PublishedExamplesTest, ::testing::ValuesIn(IfOnTfLite({kStandard, kWasmEdge})), NameOfForm);
INSTANTIATE_TEST_SUITE_P(, PublishedSuiteTest, ::testing::ValuesIn(IfOnTfLite({{"wasi-nn-safe", "witx"}})), NameOfForm);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PublishedExamplesTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PublishedSuiteTest);

}  // namespace
}  // namespace wasinn::testing
