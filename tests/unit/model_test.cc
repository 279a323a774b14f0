// Recognising formats, finding files, resolving names.
#include <sys/stat.h>

#include "core/models/formats.h"
#include "core/models/model_files.h"
#include "core/models/model_registry.h"
#include "support/files.h"
#include "support/own_process.h"

namespace wasinn::core {
namespace {

namespace fs = std::filesystem;

std::string Sniff(std::string_view bytes) {
  return FormatOfBytes(StandardFormats(), {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, bytes.size());
}

Result<std::vector<ModelFiles>> FindFiles(const std::string& path, const std::string& encoding) {
  return FindModelFiles(path, encoding, StandardFormats());
}

TEST(Sniff, KnowsTheFormats) {
  using namespace std::string_view_literals;
  EXPECT_EQ(Sniff("GGUF\3\0\0\0"sv), "ggml");
  EXPECT_EQ(Sniff("\x1c\0\0\0TFL3"sv), "tensorflowlite");
  EXPECT_EQ(Sniff("PK\3\4...."sv), "pytorch");
  EXPECT_EQ(Sniff("\x18\0\0\0ORTM"sv), "onnx");
  EXPECT_EQ(Sniff("<?xml version=\"1.0\"?><net"sv), "openvino");
  EXPECT_EQ(Sniff("\x08\x08\x12\x02hi\x3a\x00"sv), "onnx");        // ir_version, producer_name, graph
  EXPECT_EQ(Sniff("\x3a\x00\x08\x08"sv), "onnx");                  // in any order
  EXPECT_EQ(Sniff("\x08\x01\x12\x02hi"sv), "tensorflow");          // SavedModel
  EXPECT_EQ(Sniff("\x0a\x02hi\x0a\x00\x22\x00"sv), "tensorflow");  // GraphDef
}

TEST(Sniff, TakesNothingElse) {
  using namespace std::string_view_literals;
  for (const std::string_view bytes :
       {""sv, "\0"sv, "GGU"sv, "TFL3"sv, "hello"sv, "\x08"sv, "\x08\x08"sv, "\x3a\xff\xff\xff\xff\x0f"sv,
        "\x08\x08\x3a\x05"sv, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"sv, "\x08\x08\x3b\x00"sv}) {
    EXPECT_EQ(Sniff(bytes), "") << bytes.size();
  }
}

TEST(Sniff, SurvivesAnything) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes(random() % 64, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    (void)Sniff(bytes);  // the sanitizers look
  }
}

class ModelFilesTest : public ::testing::Test {
 protected:
  void Make(const std::string& path) { folder_.Write(path, "x"); }
  std::string Path(const std::string& path) const { return folder_ / path; }
  const testing::TestFolder folder_;
};

TEST_F(ModelFilesTest, ASingleFile) {
  Make("a.onnx");
  Make("ir.xml");
  Make("ir.bin");
  Make("bare.xml");
  const auto onnx = FindFiles(Path("a.onnx"), "");
  ASSERT_TRUE(onnx);
  EXPECT_EQ(onnx->at(0).encoding, "onnx");
  EXPECT_THAT(onnx->at(0).paths, ElementsAre(Path("a.onnx")));
  const auto openvino = FindFiles(Path("ir.xml"), "");
  EXPECT_THAT(openvino->at(0).paths, ElementsAre(Path("ir.xml"), Path("ir.bin")));
  const auto bare = FindFiles(Path("bare.xml"), "");  // a model without weights
  EXPECT_THAT(bare->at(0).paths, ElementsAre(Path("bare.xml")));
}

TEST_F(ModelFilesTest, AFolderWithAnIrWithOrWithoutWeights) {
  Make("m/model.xml");
  const auto bare = FindFiles(Path("m"), "");
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->at(0).encoding, "openvino");
  EXPECT_THAT(bare->at(0).paths, ElementsAre(Path("m/model.xml")));
  Make("m/model.bin");
  EXPECT_THAT(FindFiles(Path("m"), "")->at(0).paths, ElementsAre(Path("m/model.xml"), Path("m/model.bin")));
}

TEST_F(ModelFilesTest, VersionsAsTritonHasThem) {
  Make("m/2/model.onnx");
  Make("m/10/model.onnx");
  Make("m/1/model.pt");
  Make("m/notes/model.onnx");
  Make("m/0/model.onnx");
  const auto files = FindFiles(Path("m"), "");
  ASSERT_TRUE(files);
  std::vector<uint32_t> versions;
  for (const ModelFiles& version : *files) versions.push_back(version.version);
  EXPECT_THAT(versions, ElementsAre(1, 2, 10));
  EXPECT_EQ(FindFiles(Path("m"), "pytorch")->size(), 1u);
}

TEST_F(ModelFilesTest, ASavedModelIsAFolderInAFolder) {
  for (const std::string place : {"m/saved_model.pb", "m/1/saved_model.pb", "m/1/model.savedmodel/saved_model.pb"}) {
    fs::remove_all(Path("m"));
    Make(place);
    const auto files = FindFiles(Path("m"), "");
    ASSERT_TRUE(files) << place;
    EXPECT_EQ(files->at(0).encoding, "tensorflow");
    EXPECT_THAT(files->at(0).paths, ElementsAre(Path(place)));
    EXPECT_EQ(files->at(0).version, 1u);
  }
}

TEST_F(ModelFilesTest, TorchScriptHasManyEndings) {
  for (const std::string ending : {".pt", ".pt2", ".pth", ".torchscript", ".jit", ".ts"}) {
    fs::remove_all(Path("m"));
    Make("voice" + ending);
    EXPECT_EQ(FindFiles(Path("voice" + ending), "")->at(0).encoding, "pytorch") << ending;
    Make("m/1/model" + ending);
    const auto files = FindFiles(Path("m"), "");
    ASSERT_TRUE(files) << ending;
    EXPECT_EQ(files->at(0).encoding, "pytorch");
  }
}

TEST_F(ModelFilesTest, MissingFilesAreNotFound) {
  Make("m/readme.txt");
  EXPECT_EQ(FindFiles(Path("nothing"), "").error().code(), WASINN_ERROR_NOT_FOUND);
  EXPECT_EQ(FindFiles(Path("m"), "").error().code(), WASINN_ERROR_NOT_FOUND);
  EXPECT_EQ(FindFolders(Path("nothing")).error().code(), WASINN_ERROR_NOT_FOUND);
}

TEST_F(ModelFilesTest, ABlobIsWhatTheFileHad) {
  Make("f");
  for (const bool map : {false, true}) {
    const auto blob = Blob::ReadFile(Path("f"), map);
    ASSERT_TRUE(blob);
    EXPECT_EQ((*blob)->bytes().size(), 1u);
    EXPECT_EQ((*blob)->path(), Path("f"));
  }
  EXPECT_EQ(Blob::ReadFile(Path("nothing"), false).error().code(), WASINN_ERROR_MODEL_NOT_FOUND);
  EXPECT_EQ(Blob::ReadFile(folder_.path().string(), false).error().code(), WASINN_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(Blob::ReadFile(Path("pipe"), false).error().code(), WASINN_ERROR_INVALID_ARGUMENT)
      << "a load does not wait for a writer";
}

// A copy of one would be as much memory again as a framework takes for it.
TEST_F(ModelFilesTest, ALargeFileIsMapped) {
  folder_.Write("f", "x");
  fs::resize_file(Path("f"), size_t{1} << 30);
  const uint64_t before = testing::MemoryField("RssAnon:");
  const auto blob = Blob::ReadFile(Path("f"), false);
  ASSERT_TRUE(blob);
  EXPECT_EQ((*blob)->bytes().size(), size_t{1} << 30);
  EXPECT_EQ((*blob)->bytes().front(), 'x');
  EXPECT_EQ((*blob)->bytes().back(), 0);
  EXPECT_LT(testing::MemoryField("RssAnon:"), before + (size_t{100} << 20));
}

// A private copy: truncating or replacing the file afterwards changes nothing.
TEST_F(ModelFilesTest, ATruncatedFileDoesNotChangeTheBlob) {
  folder_.Write("f", std::string(100'000, 'a'));
  const auto blob = Blob::ReadFile(Path("f"), false);
  ASSERT_TRUE(blob);
  fs::resize_file(Path("f"), 0);
  EXPECT_EQ((*blob)->bytes().size(), 100'000u);
  EXPECT_EQ((*blob)->bytes().back(), 'a');
}

TEST(Registry, ResolvesNamesAndVersions) {
  ModelRegistry registry;
  for (const uint32_t version : {1u, 3u, 2u})
    ASSERT_TRUE(registry.Add(core::ModelSource{{.name = "m", .version = version}}).ok());
  EXPECT_EQ((*registry.Find("m"))->source().version, 3u);
  EXPECT_EQ((*registry.Find("m:2"))->source().version, 2u);
  for (const char* name : {"", "m:", "m:4", "m:-1", "m:1x", ":1", "n", "m:99999999999"}) {
    EXPECT_EQ(registry.Find(name).error().code(), WASINN_ERROR_NOT_FOUND) << name;
  }
}

TEST(Registry, TakesNoNameThatCouldBeAVersionOfAnother) {
  ModelRegistry registry;
  for (const char* name : {"", "m:2", "m:", ":2", ":", "llama:7b", "m:2:3"}) {
    EXPECT_EQ(registry.Add(core::ModelSource{{.name = name}}).code(), WASINN_ERROR_INVALID_ARGUMENT) << name;
  }
  EXPECT_TRUE(registry.All().empty());
}

TEST(Registry, RemovesOneVersionOrAll) {
  ModelRegistry registry;
  for (const uint32_t version : {1u, 2u})
    ASSERT_TRUE(registry.Add(core::ModelSource{{.name = "m", .version = version}}).ok());
  EXPECT_TRUE(registry.Remove("m:2").ok());
  EXPECT_EQ((*registry.Find("m"))->source().version, 1u);
  EXPECT_EQ(registry.Remove("m:2").code(), WASINN_ERROR_NOT_FOUND);
  EXPECT_TRUE(registry.Remove("m").ok());
  EXPECT_TRUE(registry.All().empty());
}

}  // namespace
}  // namespace wasinn::core
