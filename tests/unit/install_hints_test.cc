// A package's hints on how to install frameworks.
#include "core/models/install_hints.h"

#include "support/files.h"

namespace wasinn::core {
namespace {

class InstallHintsTest : public ::testing::Test {
 protected:
  std::string Folder(const std::string& name, const std::string& text) const {
    folder_.Write(name + "/install-hints", text);
    return folder_ / name;
  }

  const testing::TestFolder folder_;
};

TEST_F(InstallHintsTest, AreOfTheFirstFolderThatHasOne) {
  const std::vector<std::string> folders = {"/nonexistent", Folder("a", "onnx pip install 'wasinn[onnx]'\n"),
                                            Folder("b", "onnx other\ntorch apt install wasinn-torch")};
  const InstallHints hints(folders);
  EXPECT_EQ(hints.For("onnx", "own"), "pip install 'wasinn[onnx]'");
  EXPECT_EQ(hints.For("torch", "own"), "apt install wasinn-torch");
  EXPECT_EQ(hints.For("llama", "own"), "own");
  EXPECT_TRUE(hints.Has("torch"));
  EXPECT_FALSE(hints.Has("llama"));
}

TEST_F(InstallHintsTest, TakeThePlaceOfTheBackendsOwn) {
  const std::vector<std::string> folders = {Folder("a", "onnx pip install it\n")};
  const InstallHints hints(folders);
  EXPECT_EQ(hints.WithBetterCommand("not found; get it installs it: get it", "onnx", "get it"),
            "not found; pip install it installs it: pip install it");
  EXPECT_EQ(hints.WithBetterCommand("not found; get it", "torch", "get it"), "not found; get it");
  EXPECT_EQ(hints.WithBetterCommand("not found", "onnx", ""), "not found");
}

TEST_F(InstallHintsTest, KnowWhereTheyLie) {
  const std::vector<std::string> folders = {
      Folder("a", "onnx pip install --target '{folder}/frameworks' onnxruntime\n")};
  EXPECT_EQ(InstallHints(folders).For("onnx", "own"),
            "pip install --target '" + folders[0] + "/frameworks' onnxruntime");
}

TEST_F(InstallHintsTest, HaveANameAndACommand) {
  const std::vector<std::string> folders = {Folder("a", "\n \nonnx\n torch x\n")};
  const InstallHints hints(folders);
  for (const char* name : {"", "onnx", "torch"}) EXPECT_EQ(hints.For(name, "own"), "own");
}

}  // namespace
}  // namespace wasinn::core
