// The voice example on speech that espeak-ng speaks, with each model of the package silero-vad: the sentences are
// found, each probability is the native one where ONNX Runtime computes, and near those of silero_vad.onnx elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string_view>

#include "native_ort.h"
#include "support/this_build.h"
#include "wasinn_run.h"
#include "wav.h"

namespace wasinn::testing {
namespace {

namespace fs = std::filesystem;

const std::string kFolder = InSources(".deps/share/silero-vad");
constexpr size_t kChunk = 512, kOverlap = 64;
constexpr size_t kSentences = 5;  // in make_speech.sh, whose first text has two

struct Detector {
  const char* file;
  const char* framework;
  // How far probabilities may be from those of silero_vad.onnx: the mean, and the most.
  double mean = 0, most = 0;
};
constexpr Detector kPlain = {"silero_vad.onnx", "onnx"};
constexpr Detector kDetectors[] = {
    kPlain,
    {"silero_vad_16k_op15.onnx", "onnx", 1e-5, 1e-4},
    {"silero_vad_16k_sequence.onnx", "onnx", 1e-5, 1e-4},
    {"silero_vad_op18_ifless.onnx", "onnx", 1e-5, 1e-4},
    {"silero_vad_openvino_16k.onnx", "onnx", 1e-5, 1e-4},
    {"silero_vad_half.onnx", "onnx", 0.05, 1},  // of another training
    {"silero_vad.jit", "torch", 1e-5, 1e-4},
    // OpenVINO computes in bf16 where the CPU can.
    {"silero_vad_openvino_16k.onnx", "openvino", 0.02, 0.5},
};

// Those whose frameworks this build has.
std::vector<Detector> Detectors() { return Built(kDetectors, &Detector::framework); }

class VoiceTest : public ::testing::TestWithParam<Detector> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs::exists(fs::path(kFolder) / GetParam().file))
        << "the voice detector is missing: scripts/deps.sh tests fetches it; then configure "
           "again";
    const CommandResult made = RunCommand({InSources("examples/voice/make_speech.sh"), Wav()});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    std::string error;
    ASSERT_TRUE(ReadWav(Wav().c_str(), &samples_, &error)) << error;
  }

  std::string Wav() const { return (folder_.path() / "speech.wav").string(); }

  CommandResult RunVoice(const Detector& detector, std::vector<std::string> args) const {
    const std::string config = (folder_.path() / "wasinn.toml").string();
    std::ofstream(config) << "[models.vad]\npath = \"" << kFolder << "/" << detector.file << "\"\nbackend = \""
                          << detector.framework << "\"\n";
    args.emplace_back("/files/speech.wav");
    return RunGuest({"--config", config, "--dir", folder_.path().string() + "::/files"}, "voice", args);
  }

  // The probability of speech in each chunk, as a guest prints it.
  std::vector<float> Guests(const Detector& detector) const {
    const CommandResult run = RunVoice(detector, {"--raw"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    std::vector<float> probabilities;
    for (const std::string& line : Lines(run.out)) {
      probabilities.push_back(std::bit_cast<float>(static_cast<uint32_t>(std::stoul(line, nullptr, 16))));
    }
    return probabilities;
  }

  // The same from ONNX Runtime. Outputs are the probability and then the states, in the order in which the model takes
  // them.
  std::vector<float> Native(const Detector& detector) const {
    const auto model = NativeModel::Load(std::string(kFolder) + "/" + detector.file);
    EXPECT_TRUE(model) << model.error();
    std::vector<float> probabilities;
    std::vector<float> window(kOverlap + kChunk);
    std::vector<Bytes> states;
    for (size_t at = 0; model && at < samples_.size(); at += kChunk) {
      std::copy(window.end() - kOverlap, window.end(), window.begin());
      for (size_t i = 0; i < kChunk; ++i) {
        window[kOverlap + i] = at + i < samples_.size() ? samples_[at + i] : 0.0f;
      }
      const auto outputs = model->Run(Inputs(*model, window, &states));
      if (!outputs || (*outputs)[0].bytes.size() != sizeof(float) || outputs->size() != 1 + states.size()) {
        ADD_FAILURE() << (outputs ? "other outputs" : outputs.error());
        break;
      }
      std::memcpy(&probabilities.emplace_back(), (*outputs)[0].bytes.data(), sizeof(float));
      for (size_t i = 0; i < states.size(); ++i) states[i] = (*outputs)[1 + i].bytes;
    }
    return probabilities;
  }

  static std::vector<OnnxTensor> Inputs(const NativeModel& model, const std::vector<float>& window,
                                        std::vector<Bytes>* states) {
    std::vector<OnnxTensor> inputs;
    size_t state = 0;
    for (const NativeIo& io : model.inputs()) {
      if (io.name == "input") {
        inputs.push_back({kOnnxFloat, {1, kOverlap + kChunk}, Floats(window)});
      } else if (io.name == "sr") {
        inputs.push_back({kOnnxInt64, {}, BytesOf(std::vector<int64_t>{kSampleRate})});
      } else {
        const int64_t halves = io.name == "state" ? 2 : 1;
        if (state == states->size()) states->push_back(Floats(std::vector<float>(static_cast<size_t>(halves) * 128)));
        inputs.push_back({kOnnxFloat, {halves, 1, 128}, (*states)[state++]});
      }
    }
    return inputs;
  }

  // What the guest prints for a user.
  void ExpectEverySentence() const;

  const TempFolder folder_;
  std::vector<float> samples_;
};

TEST_P(VoiceTest, HearsWhatIsHeardNatively) {
  const std::vector<float> guest = Guests(GetParam()), plain = Native(kPlain);
  ASSERT_GT(plain.size(), 300u);  // about ten seconds
  ASSERT_EQ(guest.size(), plain.size());
  const bool is_native = GetParam().framework == std::string_view("onnx");
  if (is_native) {
    EXPECT_EQ(guest, Native(GetParam()));
  }
  double sum = 0, most = 0;
  for (size_t i = 0; i < guest.size(); ++i) {
    const double difference = std::abs(guest[i] - plain[i]);
    sum += difference;
    most = std::max(most, difference);
  }
  const double mean = sum / static_cast<double>(guest.size());
  EXPECT_LE(mean, GetParam().mean);
  EXPECT_LE(most, GetParam().most);
  std::printf("%zu chunks%s; from %s: mean %.1e, at most %.1e\n", guest.size(),
              is_native ? ", identical to native ones" : "", kPlain.file, mean, most);
  ExpectEverySentence();
}

void VoiceTest::ExpectEverySentence() const {
  const CommandResult run = RunVoice(GetParam(), {});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const double length = static_cast<double>(samples_.size()) / kSampleRate;
  std::vector<std::pair<double, double>> found;
  for (const std::string& line : Lines(run.out)) {
    double begin = 0, end = 0;
    if (std::sscanf(line.c_str(), " speech from %lf s to %lf s", &begin, &end) == 2) found.emplace_back(begin, end);
  }
  EXPECT_EQ(found.size(), kSentences) << run.out;
  double before = 0.5;  // it begins with a second of silence
  for (const auto& [begin, end] : found) {
    EXPECT_GT(begin, before) << run.out;
    EXPECT_GT(end, begin + 0.5) << run.out;
    before = end;
  }
  EXPECT_LT(before, length - 0.5) << run.out;  // and ends with one
  std::printf("%.1f s, %zu stretches of speech\n", length, found.size());
}

INSTANTIATE_TEST_SUITE_P(Models, VoiceTest, ::testing::ValuesIn(Detectors()), [](const auto& detector) {
  std::string name = std::string(detector.param.file) + "_on_" + detector.param.framework;
  std::ranges::replace(name, '.', '_');
  return name;
});

}  // namespace
}  // namespace wasinn::testing
