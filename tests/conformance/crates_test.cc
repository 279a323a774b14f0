// Programs on the crates that others published for wasi-nn, which know nothing of wasinn: the crates' own examples
// as they are, and programs of ours that take the same steps with every format. What they compute is what the
// framework gives directly.
#include "forms.h"
#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

// The number of held-out images.
constexpr size_t kFew = 30;
constexpr char kPrompt[] = "GNU General Public";
constexpr char kGreedy[] = "temp = 0\nn-predict = 16\nthreads = 1\n";

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

// The formats on these crates by turns, whose functions are the same.
std::vector<CrateCase> ByTurns(const std::vector<Format>& formats,
                               const std::vector<Crate>& crates = {kStandard, kWasmEdge}) {
  std::vector<CrateCase> cases;
  for (const Format& format : formats) cases.push_back({format, crates[cases.size() % crates.size()]});
  return cases;
}

class CratesTest : public ::testing::TestWithParam<CrateCase> {
 protected:
  static const Format& format() { return GetParam().format; }
  static const Crate& crate() { return GetParam().crate; }

  // The tensors of the program, and what the framework itself gives for them.
  Bytes Expect(const Bytes& inputs, const std::string& dims) const {
    return RunReference(format(), folder_.Write("inputs", inputs), folder_.path(), dims);
  }

  // `config`: lines of the model's configuration.
  CommandResult Run(const std::string& program, const std::vector<std::string>& args,
                    const std::string& config = "") const {
    return RunGuest(
        {"--config", folder_.Write("host.toml", format().Settings("model") + config), "--dialect", crate().form,
         "--dir", folder_.path().string() + "::/files", "--dir", InSources("models") + "::/models"},
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

  const TestFolder folder_;
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
INSTANTIATE_TEST_SUITE_P(, CratesTest, ::testing::ValuesIn(ByTurns(FormatsWithBytes())),
                         [](const auto& c) { return NameOf(c.param); });

// With language models that the host configures, any crate gets the whole answer.
class CratesTextTest : public CratesTest {};
TEST_P(CratesTextTest, Completion) {
  const std::string prompt = kPrompt, dims = std::to_string(prompt.size());
  const Bytes expected = Expect({prompt.begin(), prompt.end()}, dims);
  EXPECT_THAT(std::string(expected.begin(), expected.end()), StartsWith(" License"));
  CheckInfer(dims, {"name:model"}, 1, expected, kGreedy);
}

INSTANTIATE_TEST_SUITE_P(, CratesTextTest, ::testing::ValuesIn(ByTurns(TextFormats())),
                         [](const auto& c) { return NameOf(c.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CratesTextTest);

// LlamaEdge's configuration, with small sizes.
constexpr char kLlamaEdge[] =
    R"({"enable-log":false,"enable-debug-log":false,"embedding":false,"n-predict":16,"n-gpu-layers":100,"use-mmap":true,)"
    R"("split-mode":"layer","ctx-size":512,"batch-size":512,"ubatch-size":512,"threads":1,"temp":0.0,"top-p":0.9,)"
    R"("repeat-penalty":1.0,"presence-penalty":0.0,"frequency-penalty":0.0,"grammar":"","include_usage":false})";

// WasmEdge's crate in addition: a configuration by the guest, pieces, errors with the reason of their end.
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
INSTANTIATE_TEST_SUITE_P(, CratesPiecesTest, ::testing::ValuesIn(ByTurns(TextFormats(), {kWasmEdge})),
                         [](const auto& c) { return NameOf(c.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CratesPiecesTest);

// The examples of the crates' documentation, as they are. All of them are for TensorFlow Lite, and one for a MobileNet,
// which another package brings along.
class PublishedTest : public ::testing::TestWithParam<Crate> {
 protected:
  static CommandResult Run(const std::string& folder, const std::vector<std::string>& args) {
    return RunGuest({"--dialect", GetParam().form, "--dir", folder + "::."},
                    std::string("published-") + GetParam().name, args);
  }
};

TEST_P(PublishedTest, FirstPage) {
  const CommandResult run = Run(InSources(".deps/share/wasi-nn-crates/wasi-nn-safe"),
                                {"lib", "assets/mobilenet_v1_0.25_224_1_default_1.tflite"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_NE(Run(InSources("models"), {"lib", "digits.tflite"}).exit_code, 0) << "its images are no digits";
}

TEST_P(PublishedTest, Readme) {
  const TestFolder folder;
  const Format format = FormatsOn("tflite").at(0);
  const std::string inputs = folder.Write("inputs", InputsOf(format, Few()));
  folder.Write("digits.tflite", ReadFile(format.path()));
  const CommandResult run = Run(folder.path(), {"readme", "digits.tflite", "inputs", "outputs"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(ToHex(ReadBytes(folder.path() / "outputs")), ToHex(RunReference(format, inputs, folder.path())));
}

INSTANTIATE_TEST_SUITE_P(, PublishedTest,
                         ::testing::ValuesIn(FormatsOn("tflite").empty() ? std::vector<Crate>()
                                                                         : std::vector<Crate>{kStandard, kWasmEdge}),
                         [](const auto& crate) { return crate.param.form; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PublishedTest);

}  // namespace
}  // namespace wasinn::testing
