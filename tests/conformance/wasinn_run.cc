#include "wasinn_run.h"

#include "support/this_build.h"

namespace wasinn::testing {
namespace {

namespace fs = std::filesystem;

int Digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

Script::Answer ParseAnswer(const std::string& line) {
  Script::Answer answer;
  std::string hex;
  double nanoseconds = 0;
  std::istringstream(line) >> answer.error >> nanoseconds >> hex;
  answer.microseconds = nanoseconds / 1000;
  answer.bytes = FromHex(hex);
  return answer;
}

}  // namespace

fs::path TinyModelPath(const std::string& name) { return fs::path(InSources("tests/models/tiny")) / (name + ".onnx"); }

std::string TinyModel(const std::string& name) { return name + "=" + TinyModelPath(name).string(); }

Bytes ReadBytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Bytes FromHex(std::string_view text) {
  Bytes bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    const int high = Digit(text[i]), low = Digit(text[i + 1]);
    if (high < 0 || low < 0) break;
    bytes.push_back(static_cast<uint8_t>(high << 4 | low));
  }
  return bytes;
}

std::string ToHex(const Bytes& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  if (bytes.empty()) return "-";
  std::string text;
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Script& Script::Gives(const std::string& step, const Bytes& bytes) {
  steps_.push_back({step, WASI_NN_SUCCESS, true, bytes});
  return *this;
}

Script& Script::Fails(const std::string& step, uint32_t error) {
  steps_.push_back({step, error, false, {}});
  return *this;
}

std::vector<Script::Answer> Script::Run(const std::vector<std::string>& flags, const fs::path& folder) {
  {
    std::ofstream script(folder / "script");
    for (const Step& step : steps_) script << step.text << "\n";
  }
  std::vector<std::string> all = flags;
  all.insert(all.end(), {"--dir", folder.string() + "::/files"});
  const CommandResult result = RunGuest(all, "steps", {"/files/script"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<Answer> answers;
  for (const std::string& line : Lines(result.out)) answers.push_back(ParseAnswer(line));
  EXPECT_EQ(answers.size(), steps_.size()) << result.err;
  answers.resize(steps_.size());
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    EXPECT_EQ(answers[i].error, step.error) << "step " << i + 1 << ": " << step.text << "\n" << result.err;
    if (step.check_bytes) {
      EXPECT_EQ(ToHex(answers[i].bytes), ToHex(step.bytes)) << "step " << i + 1 << ": " << step.text;
    }
    if (::testing::Test::HasFailure()) break;  // what follows a wrong step is wrong too
  }
  return answers;
}

}  // namespace wasinn::testing
