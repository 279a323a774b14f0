// Models that others made and use, loaded by a guest by name and by bytes: the outputs are, bit for bit, those of the
// framework called directly. By bytes they compute in the guest's worker, as anything that a guest brings does.
#include "real_models.h"

#include "support/test.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

namespace fs = std::filesystem;

class RealModelTest : public ::testing::TestWithParam<RealModel> {
 protected:
  static const RealModel& model() { return GetParam(); }

  void SetUp() override {
    ASSERT_TRUE(fs::exists(PathOf(model())))
        << "real models are missing: scripts/deps.sh real-models fetches them; then configure again";
    if (std::ranges::any_of(model().inputs, IsSound)) {
      const CommandResult made = RunCommand({InSources("examples/voice/make_speech.sh"), Path("speech.wav")});
      ASSERT_EQ(made.exit_code, 0) << made.err;
    }
    std::ofstream all(Path("inputs"), std::ios::binary);
    for (size_t i = 0; i < model().inputs.size(); ++i) {
      const Bytes bytes = Make(model().inputs[i], Path("speech.wav"));
      std::ofstream one(Path("input") + std::to_string(i), std::ios::binary);
      for (std::ofstream* file : {&all, &one}) {
        file->write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
      }
    }
  }

  std::string Path(const std::string& file) const { return (folder_.path() / file).string(); }

  static std::string DimsOf(const Input& input) {
    std::string text;
    for (const int64_t dim : input.dims) text += (text.empty() ? "" : ",") + std::to_string(dim);
    return text.empty() ? "-" : text;
  }

  // All outputs, one after the other. By one thread, as wasinn's: with more of them TensorFlow adds up in another order,
  // on some processors.
  Bytes Native() const {
    std::string types, dims, names, outputs = model().native_outputs;
    for (const Input& input : model().inputs) {
      const char* separator = types.empty() ? "" : ";";
      types += separator + std::string(input.type);
      dims += separator + DimsOf(input);
      names += separator + std::string(input.native);
    }
    if (outputs.empty()) outputs = std::string(model().outputs, ';');  // that many, whatever they are called
    const CommandResult run = RunCommand({InTestsBuild("bin/reference_") + model().framework, types, dims,
                                          Path("inputs"), Path("native"), names, outputs, PathOf(model())},
                                         {"TF_CPP_MIN_LOG_LEVEL=3", "TF_NUM_INTRAOP_THREADS=1"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return ReadBytes(Path("native"));
  }

  // In a script for a guest: `load`, then one inference, whose outputs go into a file.
  void Infer(const std::string& load, int number, const std::string& file, Script* script) const {
    const std::string context = std::to_string(number);
    script->Do(load).Do("context " + context + " " + context);
    for (size_t i = 0; i < model().inputs.size(); ++i) {
      const Input& input = model().inputs[i];
      const int type = std::string_view(input.type) == "f32"   ? WASI_NN_F32
                       : std::string_view(input.type) == "i32" ? WASI_NN_I32
                                                               : WASI_NN_I64;
      script->Do("setfile " + context + " " + std::to_string(i) + " " + std::to_string(type) + " " + DimsOf(input) +
                 " /files/input" + std::to_string(i));
    }
    script->Do("compute " + context);
    for (size_t i = 0; i < model().outputs; ++i) {
      script->Do("getfile " + context + " " + std::to_string(i) + " /files/" + file);
    }
  }

  size_t WorkersStarted() const {
    size_t started = 0;
    const Bytes metrics = ReadBytes(Path("metrics"));
    for (const std::string& line : Lines({metrics.begin(), metrics.end()})) {
      if (line.starts_with("wasinn_workers_started_total")) started += std::stoul(line.substr(line.rfind(' ')));
    }
    return started;
  }

  const TestFolder folder_;
};

// Numbers, and not one number throughout: what a framework makes of nonsense is the same everywhere, too.
void ExpectNumbers(const Bytes& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  EXPECT_FALSE(values.empty());
  EXPECT_THAT(values, ::testing::Each(::testing::ResultOf([](float value) { return std::isfinite(value); }, true)));
  if (values.size() > 1) {
    EXPECT_THAT(values, ::testing::Contains(::testing::Ne(values.front())));
  }
}

TEST_P(RealModelTest, IsAsNative) {
  const Bytes native = Native();
  ExpectNumbers(native);
  Script script;
  Infer("name 0 model", 0, "named", &script);
  std::vector<std::string> files = {"named"};
  if (model().encoding >= 0) {
    const std::string path = "/models/" + PathOf(model()).filename().string();
    Infer("load 1 " + path + " " + std::to_string(model().encoding), 1, "brought", &script);
    files.emplace_back("brought");
  }
  const fs::path path = PathOf(model());
  script.Run({"--model", "model=" + path.string(), "--dir", path.parent_path().string() + "::/models:ro", "--metrics",
              Path("metrics")},
             folder_.path());
  EXPECT_EQ(WorkersStarted(), files.size() - 1) << "a guest's own bytes, and these alone, compute in a worker";
  for (const std::string& file : files) {
    EXPECT_TRUE(ReadBytes(Path(file)) == native) << file << ": other bytes than the framework's own";
  }
}

INSTANTIATE_TEST_SUITE_P(, RealModelTest, ::testing::ValuesIn(BuiltRealModels()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace wasinn::testing
