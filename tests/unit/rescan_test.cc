// A host that looks at the folders and files of its models again.
#include <wasinn/wasinn.hpp>

#include "support/echo.h"
#include "support/files.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

constexpr char kX[] = "in x f32 1\n", kY[] = "in y f32 1\n", kBroken[] = "fail_load 3\n";

class Rescan : public ::testing::Test {
 protected:
  Rescan() {
    std::filesystem::create_directories(folder_ / "models");
    Config config;
    EXPECT_TRUE(config.LoadToml("backend_dirs = ['" + EchoFolder() + "']\n").ok());
    auto host = Host::Create(config, [this](const wasinn_log_record& record) { logged_.emplace_back(record.message); });
    host_ = std::make_unique<Host>(std::move(*host));
  }
  void Write(const std::string& file, std::string_view directives) {
    folder_.Write(file, EchoModel(directives));
    // Not a clock's: two writes may be within one tick of it.
    std::filesystem::last_write_time(folder_ / file, std::filesystem::file_time_type() + std::chrono::seconds(++time_));
  }
  void AddModels() { EXPECT_TRUE(host_->AddModels(folder_ / "models").ok()); }
  // "digits:2 added", one for each change.
  std::vector<std::string> Changes() {
    const char* const kinds[] = {"added", "reloaded", "removed", "failed"};
    std::vector<std::string> changes;
    auto reported = host_->RescanModels();
    EXPECT_TRUE(reported.ok());
    for (const ModelChange& one : *reported) {
      changes.push_back(one.name + ":" + std::to_string(one.version) + " " + kinds[one.kind]);
      EXPECT_EQ(one.message.empty(), one.kind != WASINN_MODEL_CHANGE_FAILED);
    }
    return changes;
  }
  // The name of its only input, or why it does not load.
  std::string Load(const std::string& name) {
    auto signature = host_->Inspect(name);
    return signature.ok() ? signature->inputs.front().name : std::string(signature.status().message());
  }

  const TestFolder folder_;
  std::vector<std::string> logged_;
  std::unique_ptr<Host> host_;
  int time_ = 0;
};

TEST_F(Rescan, FindsNewModelsAndVersionsAndLoadsNone) {
  Write("models/a/1/model.gguf", kX);
  AddModels();
  EXPECT_THAT(Changes(), IsEmpty());
  Write("models/a/2/model.gguf", kY);
  Write("models/b/model.gguf", kBroken);
  EXPECT_THAT(Changes(), ElementsAre("a:2 added", "b:1 added"));
  for (const ModelInfo& one : host_->Models()) EXPECT_EQ(one.compiles, 0u) << one.name;
  EXPECT_EQ(Load("a"), "y");
  EXPECT_THAT(Changes(), IsEmpty());
}

TEST_F(Rescan, OnlyCompilesChangedFilesOfLoadedModels) {
  Write("models/a/model.gguf", kX);
  Write("models/b/model.gguf", kX);
  AddModels();
  EXPECT_EQ(Load("a"), "x");
  Write("models/a/model.gguf", kY);
  Write("models/b/model.gguf", kY);
  EXPECT_THAT(Changes(), ElementsAre("a:1 reloaded"));
  EXPECT_EQ(Load("a"), "y");
  EXPECT_EQ(host_->Models().back().compiles, 0u);
}

TEST_F(Rescan, NewFilesThatFailLeaveWhatServesAndAreReadOnce) {
  Write("models/a/1/model.gguf", kX);
  AddModels();
  EXPECT_EQ(Load("a"), "x");
  Write("models/a/1/model.gguf", kBroken);
  Write("models/a/2/model.gguf", kBroken);
  EXPECT_THAT(Changes(), ElementsAre("a:1 failed", "a:2 failed"));
  EXPECT_THAT(Changes(), IsEmpty());
  EXPECT_EQ(Load("a"), "x");
  Write("models/a/2/model.gguf", kY);
  EXPECT_THAT(Changes(), ElementsAre("a:2 added"));
  EXPECT_EQ(Load("a"), "y");
}

TEST_F(Rescan, ABrokenSuccessorKeepsTheVersionWhoseFolderIsGone) {
  Write("models/a/1/model.gguf", kX);
  AddModels();
  EXPECT_EQ(Load("a"), "x");
  std::filesystem::remove_all(folder_ / "models/a/1");
  Write("models/a/2/model.gguf", kBroken);
  EXPECT_THAT(Changes(), ElementsAre("a:2 failed"));
  EXPECT_THAT(Changes(), IsEmpty());
  EXPECT_EQ(Load("a"), "x");
  Write("models/a/2/model.gguf", kY);
  EXPECT_THAT(Changes(), ElementsAre("a:2 added", "a:1 removed"));
}

TEST_F(Rescan, RemovesWhatIsGoneFromAFolderOfModels) {
  Write("models/a/model.gguf", kX);
  Write("alone.gguf", kX);
  AddModels();
  EXPECT_TRUE(host_->AddModel("alone", {.path = folder_ / "alone.gguf"}).ok());
  EXPECT_EQ(Load("a"), "x");
  std::filesystem::remove_all(folder_ / "models/a");
  std::filesystem::remove(folder_ / "alone.gguf");
  EXPECT_THAT(Changes(), ElementsAre("a:1 removed"));
  EXPECT_THAT(Load("a"), HasSubstr("no model is registered"));
  Write("models/a/model.gguf", kY);
  EXPECT_THAT(Changes(), ElementsAre("a:1 added"));
  EXPECT_EQ(host_->Models().size(), 2u);
}

TEST_F(Rescan, AFileThatIsNoFileAnyMoreLeavesWhatServes) {
  Write("models/a/1/model.gguf", kX);
  Write("models/b/model.gguf", kX);
  AddModels();
  EXPECT_EQ(Load("a"), "x");
  for (const char* file : {"models/a/1/model.gguf", "models/b/model.gguf"}) {
    std::filesystem::remove(folder_ / file);
    std::filesystem::create_directory(folder_ / file);
  }
  EXPECT_THAT(Changes(), ElementsAre("a:1 failed", "b:1 failed"));
  EXPECT_THAT(Changes(), IsEmpty());
  EXPECT_EQ(Load("a"), "x");
  for (const char* file : {"models/a/1/model.gguf", "models/b/model.gguf"}) {
    std::filesystem::remove(folder_ / file);
    Write(file, kY);
  }
  EXPECT_THAT(Changes(), ElementsAre("a:1 reloaded", "b:1 reloaded"));
  EXPECT_EQ(Load("a"), "y");
  EXPECT_EQ(Load("b"), "y");
  EXPECT_THAT(Changes(), IsEmpty());
}

TEST_F(Rescan, AFolderOfModelsThatIsAwayLeavesWhatServes) {
  Write("models/a/1/model.gguf", kX);
  AddModels();
  EXPECT_EQ(Load("a"), "x");
  std::filesystem::rename(folder_ / "models", folder_ / "away");
  EXPECT_THAT(Changes(), ElementsAre("a:1 failed"));
  EXPECT_THAT(Changes(), IsEmpty());
  EXPECT_EQ(Load("a"), "x");
  std::filesystem::rename(folder_ / "away", folder_ / "models");
  EXPECT_THAT(Changes(), ElementsAre("a:1 reloaded"));
  std::filesystem::remove_all(folder_ / "models/a");
  EXPECT_THAT(Changes(), ElementsAre("a:1 removed"));
}

TEST_F(Rescan, ARejectedVersionThatAReloadTakesIsNotRemoved) {
  Write("models/a/1/model.gguf", kX);
  AddModels();
  EXPECT_EQ(Load("a"), "x");
  Write("models/a/2/model.gguf", kBroken);
  EXPECT_THAT(Changes(), ElementsAre("a:2 failed"));
  Write("models/a/2/model.gguf", kY);
  EXPECT_TRUE(host_->ReloadModel("a").ok());
  EXPECT_THAT(Changes(), IsEmpty());
  EXPECT_EQ(Load("a"), "y");
}

TEST_F(Rescan, WarnsOnceOfAFolderWhoseNameNoModelCanHave) {
  AddModels();
  Write("models/a:b/model.gguf", kX);
  EXPECT_THAT(Changes(), IsEmpty());
  EXPECT_THAT(Changes(), IsEmpty());
  EXPECT_THAT(logged_, ElementsAre(HasSubstr("cannot be named 'a:b'")));
}

TEST_F(Rescan, LeavesModelsThatAnEmbedderRegisteredOrRemoved) {
  Write("models/a/1/model.gguf", kX);
  AddModels();
  const std::string bytes = EchoModel(kY);
  const wasinn_bytes builder{reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
  EXPECT_TRUE(host_->AddModel("a", {.builders = {builder}}).ok());
  EXPECT_THAT(Changes(), IsEmpty());
  EXPECT_EQ(Load("a"), "y");
}

TEST_F(Rescan, AReloadLooksAtTheFolderToo) {
  Write("models/a/1/model.gguf", kX);
  AddModels();
  EXPECT_EQ(Load("a"), "x");
  Write("models/a/2/model.gguf", kBroken);
  EXPECT_FALSE(host_->ReloadModel("a").ok());
  EXPECT_EQ(Load("a"), "x");
  Write("models/a/2/model.gguf", kY);
  Write("models/b/model.gguf", kY);
  EXPECT_TRUE(host_->ReloadModel("a").ok());
  EXPECT_EQ(Load("a"), "y");
  EXPECT_TRUE(host_->ReloadModel("b").ok());
  EXPECT_EQ(Load("b"), "y");
  std::filesystem::remove_all(folder_ / "models/b");
  EXPECT_FALSE(host_->ReloadModel("b").ok());
  EXPECT_FALSE(host_->ReloadModel("c").ok());
  EXPECT_THAT(Changes(), IsEmpty());
}

TEST_F(Rescan, AStartNamesAllModelsThatDoNotLoad) {
  Config config;
  std::string toml = "backend_dirs = ['" + EchoFolder() + "']\n";
  for (const char* name : {"a", "b"}) {
    Write(std::string(name) + ".gguf", kBroken);
    toml += std::string("[models.") + name + "]\npreload = true\npath = '" + folder_ / (std::string(name) + ".gguf") +
            "'\n";
  }
  EXPECT_TRUE(config.LoadToml(toml).ok());
  const auto host = Host::Create(config);
  ASSERT_FALSE(host.ok());
  EXPECT_THAT(std::string(host.status().message()), ::testing::AllOf(HasSubstr("'a:1'"), HasSubstr("'b:1'")));
}

}  // namespace
}  // namespace wasinn::testing
