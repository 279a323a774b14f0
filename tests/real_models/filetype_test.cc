// The example that recognises kinds of files by their contents, like magika.
#include "support/test.h"
#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

namespace fs = std::filesystem;

const std::string kModels = InSources(".deps/share/magika");

class FiletypeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs::exists(fs::path(kModels) / "model.onnx"))
        << "the model is missing: scripts/deps.sh real-models fetches it; then configure again";
  }

  // From the sources of this project into the folder that the guest sees.
  void Copy(const std::string& path, const std::string& to) const {
    fs::create_directories((folder_.path() / to).parent_path());
    fs::copy_file(fs::path(InSources("")) / path, folder_.path() / to);
  }

  CommandResult Filetype(std::vector<std::string> args) const {
    args.insert(args.begin(), {"-raw", "/settings"});
    return RunGuest({"--model", std::string("magika=") + kModels + "/model.onnx", "--dir",
                     folder_.path().string() + "::/files", "--dir", std::string(kModels) + "::/settings"},
                    "filetype", args);
  }

  // Each path in the folder with its label.
  void ExpectLabels(const std::vector<std::pair<std::string, std::string>>& labels) const {
    std::vector<std::string> paths;
    std::string lines;
    for (const auto& [path, label] : labels) {
      paths.push_back("/files/" + path);
      lines += paths.back() + " " + label + "\n";
    }
    const CommandResult run = Filetype(paths);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out, lines);
  }

  const TestFolder folder_;
};

// The package's own answers for these.
TEST_F(FiletypeTest, OfThisProject) {
  const std::vector<std::pair<std::string, std::string>> labels = {
      {"README.md", "markdown"},         {"CMakeLists.txt", "cmake"},
      {"CMakePresets.json", "json"},     {"LICENSE", "txt"},
      {"examples/ocr/page.jpg", "jpeg"}, {"examples/ocr/make_page.py", "python"},
      {"examples/ocr/ocr.cc", "cpp"},    {"examples/filetype/magika.go", "go"},
      {"guest/rust/Cargo.toml", "toml"}, {"scripts/deps.sh", "shell"},
      {"docs/images/layers.svg", "svg"}, {"models/digits.onnx", "onnx"},
      {"models/digits.xml", "xml"},      {"models/tiny.gguf", "unknown"}};  // it is not sure enough
  for (const auto& [path, label] : labels) Copy(path, path);
  ExpectLabels(labels);
}

TEST_F(FiletypeTest, OfFilesWithLittleInThem) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"empty", ""}, {"txt", "hello"}, {"blanks", std::string(9000, ' ')}, {"unknown", "\xff\xfe\xfd"}};
  for (const auto& [name, content] : files) std::ofstream(folder_.path() / name, std::ios::binary) << content;
  ExpectLabels({{"empty", "empty"}, {"txt", "txt"}, {"blanks", "txt"}, {"unknown", "unknown"}});
}

TEST_F(FiletypeTest, LooksAtNoName) {
  Copy("examples/ocr/page.jpg", "letter.txt");
  ExpectLabels({{"letter.txt", "jpeg"}});
}

TEST_F(FiletypeTest, GoesOnAfterAFileThatIsNotThere) {
  Copy("README.md", "README.md");
  const CommandResult run = Filetype({"/files/nothing", "/files/README.md"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "/files/README.md markdown\n");
  EXPECT_THAT(run.err, ::testing::StartsWith("filetype: /files/nothing: open /files/nothing: "));
}

}  // namespace
}  // namespace wasinn::testing
