// The wake-word example on speech that espeak-ng speaks, with the models of the package openwakeword. That a guest
// computes what the framework does is real_models_test.cc's.
#include <bit>

#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

namespace fs = std::filesystem;

const std::string kModels = InSources(".deps/share/openwakeword"), kExample = InSources("examples/wake-word");

TEST(WakeWordTest, HearsTheWord) {
  ASSERT_TRUE(fs::exists(kModels + "/hey_jarvis_v0.1.onnx"))
      << "the wake words are missing: scripts/deps.sh real-models fetches them; then configure again";
  const TestFolder folder;
  ASSERT_EQ(RunCommand({kExample + "/make_speech.sh", folder.path() / "speech.wav"}).exit_code, 0);
  // The settings of the example, besides the models that they name.
  for (const char* file : {"wasinn.toml", "window.onnx", "features.onnx"}) {
    fs::copy_file(fs::path(kExample) / file, folder.path() / file);
  }
  fs::create_directory_symlink(kModels, folder.path() / "models");
  const auto scores = [&](std::vector<std::string> args) {
    args.insert(args.end(), {"--raw", "/files/speech.wav"});
    const CommandResult run = RunGuest(
        {"--config", folder.path() / "wasinn.toml", "--dir", folder.path().string() + "::/files"}, "wake_word", args);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    std::vector<float> values;
    for (const std::string& line : Lines(run.out)) {
      values.push_back(std::bit_cast<float>(static_cast<uint32_t>(std::stoul(line, nullptr, 16))));
    }
    return values;
  };
  const std::vector<float> three_models = scores({});
  ASSERT_GT(three_models.size(), 80u);
  EXPECT_GT(std::ranges::max(three_models), 0.5f) << "the word is there";
  EXPECT_LT(three_models.back(), 0.5f);
  EXPECT_EQ(scores({"--pipeline", "wake"}), three_models) << "one compute for all of them";
}

}  // namespace
}  // namespace wasinn::testing
