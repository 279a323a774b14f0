// The models of a folder, as operators and clients meet them.
#include "serve/models/repository.h"

#include "serve/models/catalog.h"
#include "serve/models/text_models.h"
#include "serve/server.h"
#include "support/echo.h"
#include "support/files.h"
#include "support/gate.h"
#include "support/this_build.h"

namespace wasinn::serve {
namespace {

using testing::EchoModel;

constexpr char kModel[] = "in x f32 1\nout y f32 1\n";

class RepositoryTest : public ::testing::Test {
 protected:
  RepositoryTest() { std::filesystem::create_directories(folder_ / "models"); }
  void Write(const std::string& name, std::string_view directives = kModel) {
    folder_.Write("models/" + name + "/model.gguf", EchoModel(directives));
  }
  void Serve(const RepositorySettings& settings = {}) {
    Config config;
    EXPECT_TRUE(config.LoadToml("backend_dirs = ['" + testing::EchoFolder() + "']\n").ok());
    auto host = Host::Create(config);
    EXPECT_TRUE(host->AddModels(folder_ / "models").ok());
    repository_.emplace(std::move(*host), settings, std::make_shared<Statistics>());
    operator_ = repository_->NewTenant(GuestSettings::Make({}), {});
  }
  static wasinn_code CodeOf(const auto& call) {
    const auto outcome = Try(call);
    return outcome ? WASINN_OK : outcome.error().code;
  }
  wasinn_code Load(const std::string& model) {
    return CodeOf([&] { repository_->Load(*operator_, model); });
  }
  auto Find(const std::string& model, const std::string& version = "") {
    return repository_->Find(*operator_, model, version);
  }

  const testing::TestFolder folder_;
  std::optional<Repository> repository_;
  std::unique_ptr<Tenant> operator_;
};

TEST_F(RepositoryTest, ItsNamesAreReadWhileModelsCome) {
  for (int i = 0; i < 50; ++i) Write("m" + std::to_string(i));
  Serve();
  std::atomic<bool> is_done{false};
  std::jthread reader([&] {
    while (!is_done) EXPECT_TRUE(repository_->Knows("m42"));
  });
  for (int i = 0; i < 500; ++i) EXPECT_EQ(Load("m7"), WASINN_OK);
  is_done = true;
}

TEST_F(RepositoryTest, ALoadOfAVersionIsOfNoModel) {
  Write("m/1");
  Write("m/2");
  Serve();
  EXPECT_EQ(Load("m"), WASINN_OK);
  EXPECT_EQ(Load("m:2"), WASINN_ERROR_NOT_FOUND);
  const auto unloaded = Try([&] { repository_->Unload(*operator_, "m:2"); });
  ASSERT_FALSE(unloaded);
  EXPECT_EQ(unloaded.error().code, WASINN_ERROR_NOT_FOUND);
  EXPECT_EQ(unloaded.error().message, "there is no model 'm:2': versions are loaded and unloaded with their model");
}

TEST_F(RepositoryTest, NamesOfNoModelHaveNoPlacesOfTheirOwn) {
  Write("m");
  Serve();
  const Catalog catalog(*repository_, nullptr);
  EXPECT_EQ(catalog.PlaceOfLoad(*operator_, "one"), catalog.PlaceOfLoad(*operator_, "two"));
  EXPECT_NE(catalog.PlaceOfLoad(*operator_, "one"), catalog.PlaceOfLoad(*operator_, "m"));
  EXPECT_NE(catalog.PlaceOfUnload(*operator_, "m"), catalog.PlaceOfLoad(*operator_, "m"));
  EXPECT_EQ(CodeOf([&] { (void)catalog.PlaceOfUnload(*operator_, "one"); }), WASINN_ERROR_NOT_FOUND);
  EXPECT_EQ(CodeOf([&] { (void)catalog.PlaceOfLoad(*operator_, "m:1"); }), WASINN_ERROR_NOT_FOUND);
  const auto other = repository_->NewTenant(GuestSettings::Make({}), {.is_operator = false});
  EXPECT_EQ(CodeOf([&] { (void)catalog.PlaceOfLoad(*other, "m"); }), WASINN_ERROR_SECURITY);
  EXPECT_EQ(CodeOf([&] { (void)catalog.PlaceOfUnload(*other, "m"); }), WASINN_ERROR_SECURITY);
}

TEST_F(RepositoryTest, AModelThatIsUsedStaysThoughAnotherOneWentWhileItWasLoaded) {
  const testing::Gate gate;
  for (const char* name : {"a", "b", "c"}) Write(name);
  Write("slow", kModel + gate.Load());
  Serve({.max_loaded = 2});
  EXPECT_EQ(CodeOf([&] { (void)Find("a"); }), WASINN_OK);
  std::shared_ptr<const KnownModel> slow;
  std::jthread loading([&] { slow = Find("slow"); });
  gate.Await();
  const auto b = Find("b");  // for which "a" goes
  gate.Open();
  loading.join();
  EXPECT_TRUE(b != nullptr && slow != nullptr);
  EXPECT_EQ(CodeOf([&] { (void)Find("c"); }), WASINN_ERROR_BUSY);
}

TEST_F(RepositoryTest, AVersionThatIsUsedStaysThoughAnotherVersionGoes) {
  for (const char* name : {"m/1", "m/2", "b", "c"}) Write(name);
  Serve({.max_loaded = 2});
  EXPECT_EQ(CodeOf([&] { (void)Find("m", "1"); }), WASINN_OK);
  const auto second = Find("m", "2"), b = Find("b");
  EXPECT_TRUE(second != nullptr && b != nullptr);
  EXPECT_EQ(CodeOf([&] { (void)Find("c"); }), WASINN_ERROR_BUSY);
}

TEST_F(RepositoryTest, AModelThatCameLaterDoesNotCountForReadiness) {
  Write("m");
  Serve({.control = RepositorySettings::Control::kPoll});
  EXPECT_EQ(CodeOf([&] { repository_->Preload(); }), WASINN_OK);
  Write("broken", "fail_load 3\n");
  repository_->Rescan();
  EXPECT_THROW((void)repository_->IsLoaded(*operator_, "broken", ""), Failure);
  EXPECT_EQ(CodeOf([&] { repository_->CheckReady(); }), WASINN_OK);
}

TEST_F(RepositoryTest, ItsLanguageModelsAreListedOnceAndNotIfTheyAreUnloaded) {
  for (const char* name : {"a/1", "a/2", "b", "c"}) Write(name);
  Serve();
  Catalog catalog(*repository_, nullptr);
  const TextModels texts(catalog, {}, {{"of-a", "a"}, {"of-c", "c"}, {"of-none", "none"}}, {});
  EXPECT_EQ(CodeOf([&] { repository_->Unload(*operator_, "c"); }), WASINN_OK);
  std::string list;
  for (const auto& [name, model] : texts.List(*operator_)) {
    list += name + "=" + model.model + ":" + model.version + "+" + model.adapter + " ";
  }
  EXPECT_EQ(list, "a=a:2+ b=b:1+ of-a=a:2+of-a ");
}

}  // namespace
}  // namespace wasinn::serve
