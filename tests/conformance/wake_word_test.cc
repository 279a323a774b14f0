// The wake-word example on speech that espeak-ng speaks, with the models of the package openwakeword: each score is, bit for
// bit, that of the same models called directly in the order of the package's own code.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>

#include "native_ort.h"
#include "support/this_build.h"
#include "wasinn_run.h"
#include "wav.h"

namespace wasinn::testing {
namespace {

namespace fs = std::filesystem;

const std::string kModels = InSources(".deps/share/openwakeword");
const std::string kExample = InSources("examples/wake-word");
constexpr size_t kFrame = 1280, kOverlap = 480, kBins = 32, kWindow = 76, kFeatures = 96, kEmbeddings = 16;

std::vector<float> FloatsOf(const OnnxTensor& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

// openwakeword.Model.predict_clip and what it calls, of AudioFeatures; without NumPy.
class NativeChain {
 public:
  // The scores, or none after an error.
  std::vector<float> Predict(std::vector<float> samples) {
    samples.insert(samples.begin(), kSampleRate, 0.0f);
    samples.insert(samples.end(), kSampleRate, 0.0f);
    std::vector<float> frames(kWindow * kBins, 1.0f), features = OfSilence(), scores;
    for (size_t at = 0; at + kFrame < samples.size() && !::testing::Test::HasFailure(); at += kFrame) {
      const size_t from = at < kOverlap ? 0 : at - kOverlap;
      Append(
          Mel({samples.begin() + static_cast<ptrdiff_t>(from), samples.begin() + static_cast<ptrdiff_t>(at + kFrame)}),
          &frames);
      Append(Embed(Last(frames, kWindow * kBins)), &features);
      const std::vector<float> score = Run(word_, {1, kEmbeddings, kFeatures}, Last(features, kEmbeddings * kFeatures));
      scores.push_back(scores.size() < 5 ? 0.0f : score.at(0));
    }
    return scores;
  }

 private:
  static std::expected<NativeModel, std::string> Load(const char* file) {
    auto model = NativeModel::Load(std::string(kModels) + "/" + file);
    EXPECT_TRUE(model) << model.error();
    return model;
  }
  static std::vector<float> Run(const std::expected<NativeModel, std::string>& model, const std::vector<int64_t>& dims,
                                const std::vector<float>& values) {
    const std::vector<OnnxTensor> inputs = {{kOnnxFloat, dims, Floats(values)}};
    const auto outputs = model->Run(inputs);
    EXPECT_TRUE(outputs) << outputs.error();
    return outputs ? FloatsOf((*outputs)[0]) : std::vector<float>(1);
  }
  static void Append(const std::vector<float>& values, std::vector<float>* to) {
    to->insert(to->end(), values.begin(), values.end());
  }
  static std::vector<float> Last(const std::vector<float>& values, size_t count) {
    return {values.end() - static_cast<ptrdiff_t>(count), values.end()};
  }
  std::vector<float> Mel(const std::vector<float>& samples) const {
    std::vector<float> frames = Run(mel_, {1, static_cast<int64_t>(samples.size())}, samples);
    for (float& value : frames) value = value / 10 + 2;
    return frames;
  }
  std::vector<float> Embed(const std::vector<float>& windows) const {
    return Run(embedding_, {static_cast<int64_t>(windows.size() / (kWindow * kBins)), kWindow, kBins, 1}, windows);
  }
  std::vector<float> OfSilence() const {
    const std::vector<float> frames = Mel(std::vector<float>(10 * kSampleRate));
    std::vector<float> windows;
    for (size_t at = 0; at + kWindow * kBins <= frames.size(); at += 8 * kBins) {
      windows.insert(windows.end(), frames.begin() + static_cast<ptrdiff_t>(at),
                     frames.begin() + static_cast<ptrdiff_t>(at + kWindow * kBins));
    }
    return Embed(windows);
  }

  const std::expected<NativeModel, std::string> mel_ = Load("melspectrogram.onnx"),
                                                embedding_ = Load("embedding_model.onnx"),
                                                word_ = Load("hey_jarvis_v0.1.onnx");
};

class WakeWordTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs::exists(fs::path(kModels) / "hey_jarvis_v0.1.onnx"))
        << "the wake words are missing: scripts/deps.sh tests fetches them; then configure again";
    const CommandResult made = RunCommand({std::string(kExample) + "/make_speech.sh", Path("speech.wav")});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    // The settings of the example, beside the models that they name.
    for (const char* file : {"wasinn.toml", "window.onnx", "features.onnx"}) {
      fs::copy_file(fs::path(kExample) / file, Path(file));
    }
    fs::create_directory_symlink(kModels, Path("models"));
  }
  std::string Path(const char* file) const { return (folder_.path() / file).string(); }

  std::vector<float> Guests(std::vector<std::string> args) const {
    args.insert(args.end(), {"--raw", "/files/speech.wav"});
    const CommandResult run =
        RunGuest({"--config", Path("wasinn.toml"), "--dir", folder_.path().string() + "::/files"}, "wake_word", args);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    std::vector<float> scores;
    for (const std::string& line : Lines(run.out)) {
      scores.push_back(std::bit_cast<float>(static_cast<uint32_t>(std::stoul(line, nullptr, 16))));
    }
    return scores;
  }

  const TempFolder folder_;
};

TEST_F(WakeWordTest, HearsWhatIsHeardNatively) {
  std::vector<float> samples;
  std::string error;
  ASSERT_TRUE(ReadWav(Path("speech.wav").c_str(), &samples, &error)) << error;
  for (float& sample : samples) sample *= 32768.0f;
  const std::vector<float> native = NativeChain().Predict(samples);
  ASSERT_GT(native.size(), 80u);
  EXPECT_GT(*std::ranges::max_element(native), 0.5f) << "the word is there";
  EXPECT_LT(native.back(), 0.5f);
  EXPECT_EQ(Guests({}), native) << "three models, with the guest between them";
  EXPECT_EQ(Guests({"--pipeline", "wake"}), native) << "one compute for all of them";
}

}  // namespace
}  // namespace wasinn::testing
