// The voice example on speech that espeak-ng speaks: the sentences are found, by each framework that has a model of the
// package silero-vad. That a guest computes what the framework does is real_models_test.cc's.
#include "support/this_build.h"
#include "wasinn_run.h"
#include "wav.h"

namespace wasinn::testing {
namespace {

const std::string kFolder = InSources(".deps/share/silero-vad");
constexpr size_t kSentences = 5;  // in make_speech.sh, whose first text has two

struct Detector {
  const char* file;
  const char* framework;
};
constexpr Detector kDetectors[] = {
    {"silero_vad.onnx", "onnx"}, {"silero_vad.jit", "torch"}, {"silero_vad_openvino_16k.onnx", "openvino"}};

class VoiceTest : public ::testing::TestWithParam<Detector> {};

TEST_P(VoiceTest, HearsEverySentence) {
  const TestFolder folder;
  ASSERT_TRUE(std::filesystem::exists(kFolder + "/" + GetParam().file))
      << "the voice detector is missing: scripts/deps.sh tests fetches it; then configure again";
  const std::string wav = folder.path() / "speech.wav";
  ASSERT_EQ(RunCommand({InSources("examples/voice/make_speech.sh"), wav}).exit_code, 0);
  std::vector<float> samples;
  std::string error;
  ASSERT_TRUE(ReadWav(wav.c_str(), &samples, &error)) << error;
  const double length = static_cast<double>(samples.size()) / kSampleRate;

  const std::string config = folder.Write("wasinn.toml", "[models.vad]\npath = \"" + kFolder + "/" + GetParam().file +
                                                             "\"\nbackend = \"" + GetParam().framework + "\"\n");
  const std::vector<std::string> flags = {"--config", config, "--dir", folder.path().string() + "::/files"};
  const CommandResult run = RunGuest(flags, "voice", {"/files/speech.wav"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  size_t found = 0;
  double before = 0.5;  // it begins with a second of silence
  for (const std::string& line : Lines(run.out)) {
    double begin = 0, end = 0;
    if (std::sscanf(line.c_str(), " speech from %lf s to %lf s", &begin, &end) != 2) continue;
    EXPECT_GT(begin, before) << run.out;
    EXPECT_GT(end, begin + 0.5) << run.out;
    before = end;
    ++found;
  }
  EXPECT_EQ(found, kSentences) << run.out;
  EXPECT_LT(before, length - 0.5) << run.out;  // and ends with one
  // A probability for each chunk of 512 samples.
  EXPECT_EQ(Lines(RunGuest(flags, "voice", {"--raw", "/files/speech.wav"}).out).size(), (samples.size() + 511) / 512);
}

INSTANTIATE_TEST_SUITE_P(, VoiceTest, ::testing::ValuesIn(Built(kDetectors, &Detector::framework)),
                         [](const auto& detector) { return std::string(detector.param.framework); });

}  // namespace
}  // namespace wasinn::testing
