// The example that reads a page: its text is what was printed.
#include "support/test.h"
#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kExample = InSources("examples/ocr"), kModels = InSources(".deps/share/rapidocr");
constexpr char kRecognition[] = "PP-OCRv6_rec_small.onnx";

class OcrTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs::exists(kModels / kRecognition))
        << "the models are missing: scripts/deps.sh real-models fetches them; then configure again";
    const CommandResult made =
        RunCommand({"/usr/bin/env", "python3", kExample / "characters.py", kModels / kRecognition});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    Write("characters.txt", made.out);
  }

  void Write(const std::string& file, const std::string& text) const { std::ofstream(folder_.path() / file) << text; }

  CommandResult Ocr(const std::vector<std::string>& args) const {
    const auto model = [](const std::string& name, const std::string& file) {
      return name + "=" + (kModels / file).string();
    };
    return RunGuest(
        {"--model", model("detection", "PP-OCRv6_det_small.onnx"), "--model",
         model("orientation", "ch_ppocr_mobile_v2.0_cls_mobile.onnx"), "--model", model("recognition", kRecognition),
         "--dir", folder_.path().string() + "::/files", "--dir", kExample.string() + "::/example"},
        "ocr", args);
  }

  const TestFolder folder_;
};

TEST_F(OcrTest, ReadsWhatWasPrinted) {
  const CommandResult run = Ocr({"--raw", "--boxes", "/files/boxes.jpg", "/files/characters.txt", "/example/page.jpg"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const Bytes printed = ReadBytes(kExample / "page.txt");
  EXPECT_EQ(run.out, std::string(printed.begin(), printed.end()));
  EXPECT_THAT(ToHex(ReadBytes(folder_.path() / "boxes.jpg")), StartsWith("ffd8ff"));
}

TEST_F(OcrTest, MarksTheLineThatStoodOnItsHead) {
  const std::vector<std::string> lines = Lines(Ocr({"/files/characters.txt", "/example/page.jpg"}).out);
  ASSERT_EQ(lines.size(), 12u);
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(lines[i].find("↻") != std::string::npos, i == 9) << lines[i];
  EXPECT_THAT(lines[11], HasSubstr("10 lines in "));
}

TEST_F(OcrTest, SaysWhatIsWrong) {
  Write("few.txt", "a\nb\n");
  CommandResult run = Ocr({"/files/few.txt", "/example/page.jpg"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.err, "ocr: the model knows other characters than these 4\n");
  run = Ocr({"/files/characters.txt", "/files/characters.txt"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("/files/characters.txt: not a PNG or JPEG file"));
}

}  // namespace
}  // namespace wasinn::testing
