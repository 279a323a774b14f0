// The voice example on speech that espeak-ng speaks: each probability is the native one, and the sentences are found.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "native_ort.h"
#include "wasinn_run.h"
#include "wav.h"

namespace wasinn::testing {
namespace {

namespace fs = std::filesystem;

constexpr char kModel[] = CONFORMANCE_SILERO_VAD "/silero_vad.onnx";
constexpr size_t kChunk = 512, kOverlap = 64, kState = 256;  // [2, 1, 128]
constexpr size_t kSentences = 5;                             // in make_speech.sh, whose first text has two

class VoiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs::exists(kModel))
        << "the voice detector is missing: scripts/deps.sh tests fetches it; then configure "
           "again";
    const CommandResult made = RunCommand({CONFORMANCE_SOURCE "/examples/voice/make_speech.sh", Wav()});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    std::string error;
    ASSERT_TRUE(ReadWav(Wav().c_str(), &samples_, &error)) << error;
  }

  std::string Wav() const { return (folder_.path() / "speech.wav").string(); }

  CommandResult RunVoice(std::vector<std::string> args) const {
    args.emplace_back("/files/speech.wav");
    return RunGuest({"--model", std::string("vad=") + kModel, "--dir", folder_.path().string() + "::/files"}, "voice",
                    args);
  }

  // The probability of speech in each chunk, as its bits.
  std::vector<uint32_t> Native() const {
    const auto model = NativeModel::Load(kModel);
    EXPECT_TRUE(model) << model.error();
    std::vector<uint32_t> bits;
    std::vector<float> window(kOverlap + kChunk);
    Bytes state = Floats(std::vector<float>(kState));
    for (size_t at = 0; model && at < samples_.size(); at += kChunk) {
      std::copy(window.end() - kOverlap, window.end(), window.begin());
      for (size_t i = 0; i < kChunk; ++i) {
        window[kOverlap + i] = at + i < samples_.size() ? samples_[at + i] : 0.0f;
      }
      const std::vector<OnnxTensor> inputs = {{kOnnxFloat, {1, kOverlap + kChunk}, Floats(window)},
                                              {kOnnxFloat, {2, 1, 128}, state},
                                              {kOnnxInt64, {}, BytesOf(std::vector<int64_t>{kSampleRate})}};
      const auto outputs = model->Run(inputs);
      if (!outputs || (*outputs)[0].bytes.size() != sizeof(uint32_t)) {
        ADD_FAILURE() << (outputs ? "an output of another size" : outputs.error());
        break;
      }
      std::memcpy(&bits.emplace_back(), (*outputs)[0].bytes.data(), sizeof(uint32_t));
      state = (*outputs)[1].bytes;
    }
    return bits;
  }

  const TempFolder folder_;
  std::vector<float> samples_;
};

TEST_F(VoiceTest, EveryProbabilityIsTheNativeOne) {
  const CommandResult run = RunVoice({"--raw"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::vector<uint32_t> guest;
  for (const std::string& line : Lines(run.out)) {
    guest.push_back(static_cast<uint32_t>(std::stoul(line, nullptr, 16)));
  }
  const std::vector<uint32_t> native = Native();
  ASSERT_GT(native.size(), 300u);  // about ten seconds
  EXPECT_EQ(guest, native);
  std::printf("%zu chunks, %s\n", native.size(), guest == native ? "all identical" : "not identical");
}

TEST_F(VoiceTest, EverySentenceIsFound) {
  const CommandResult run = RunVoice({});
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

}  // namespace
}  // namespace wasinn::testing
