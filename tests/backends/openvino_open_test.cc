// Configuration and targets; framework_test.cc has what all backends have.
#include "backends/expect.h"
#include "backends/openvino_models.h"
#include "support/files.h"

namespace wasinn::test {
namespace {

void ExpectMeanWorks(const Host& host, const LoadOptions& options = IrOptions("mean")) {
  const LoadedModel model(host, IrXml("mean"), options);
  EXPECT_EQ(Compute(model, {Floats({1, 3, 8, 8}, std::vector<float>(192, 2))}).As<float>()[2], 2);
}

std::string Description(const Host& host, const Model& model) { return host.table().describe(model.get()); }

TEST(OpenVinoConfig, HasNoMoreStreamsThanThreadsAllow) {
  const Host host("{}", 2);
  LoadOptions options = IrOptions("mean");
  options.host_config = R"({"threads": 2, "streams": 2})";
  const Model model(host, IrXml("mean"), options);
  EXPECT_EQ(model.loaded().code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(model.loaded().message, HasSubstr("streams"));
}

TEST(OpenVinoConfig, ReachesOpenVino) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "OpenVINO has no second thread here";
  const Host host("{}", 2);
  LoadOptions options = IrOptions("mean");
  options.host_config =
      R"({"threads": 1, "streams": 2, "performance": "throughput", "precision": "f32", "properties": {"ENABLE_HYPER_THREADING": "NO"}})";
  const LoadedModel model(host, IrXml("mean"), options);
  EXPECT_THAT(Description(host, model), AllOf(HasSubstr(R"("streams":"2")"), HasSubstr(R"("performance":"THROUGHPUT")"),
                                              HasSubstr(R"("precision":"f32")"), HasSubstr(R"("device":"CPU")")));
  ExpectMeanWorks(host, options);
  options.host_config = R"({"properties": {"NO_SUCH_PROPERTY": "1"}})";
  const Model wrong(host, IrXml("mean"), options);
  EXPECT_FALSE(wrong.loaded());
  EXPECT_THAT(wrong.loaded().message, HasSubstr("NO_SUCH_PROPERTY"));
}

TEST(OpenVinoConfig, RefusesWrongValues) {
  for (const char* config : {R"({"performance": "quick"})", R"({"streams": 0})", R"({"precision": "f8"})",
                             R"({"cache_dir": "relative"})", R"({"properties": ["x"]})", "nonsense"}) {
    EXPECT_EQ(Host(config).opened().code, WASINN_ERROR_INVALID_ARGUMENT) << config;
  }
}

// The core passes on only what a guest may set; the backend does not rely on it.
TEST(OpenVinoConfig, ReadsOnlyHarmlessKeysFromAGuest) {
  const Host host("{}", 2);
  LoadOptions options = IrOptions("mean");
  options.guest_config =
      R"({"threads": 1, "precision": "accurate", "device": "NONSENSE", "cache_dir": "/nonexistent", "properties": {"X": "1"}})";
  ExpectMeanWorks(host, options);
}

// A guest that asks for more than the host gives to the model gets that; as with every backend.
TEST(OpenVinoConfig, AGuestsThreadsAreNoMoreThanTheHosts) {
  const Host host("{}", 2);
  LoadOptions options = IrOptions("mean");
  const auto threads = [&](const char* of_host, const char* of_guest) {
    options.host_config = of_host;
    options.guest_config = of_guest;
    const Model model(host, IrXml("mean"), options);
    EXPECT_TRUE(model.loaded()) << model.loaded().message;
    ExpectMeanWorks(host, options);
    return Description(host, model);
  };
  constexpr char kStreams[] = R"({"streams": 1})", kOne[] = R"({"streams": 1, "threads": 1})";
  const auto has = [](const char* n) { return HasSubstr("\"threads_of_all_streams\":\"" + std::string(n) + "\""); };
  EXPECT_THAT(threads(kStreams, R"({"threads": 1})"), has("1"));
  if (std::thread::hardware_concurrency() > 1) {
    EXPECT_THAT(threads(kStreams, R"({"threads": 3})"), has("2"));
  }
  EXPECT_THAT(threads(kStreams, R"({"threads": 2147483647})"), HasSubstr("threads_of_all_streams"));
  EXPECT_THAT(threads(kOne, R"({"threads": 2})"), has("1"));
  options.guest_config = R"({"threads": 0})";
  EXPECT_EQ(Model(host, IrXml("mean"), options).loaded().code, WASINN_ERROR_INVALID_ARGUMENT);
}

// Compiled models of the host's own files are kept there; what a guest sends leaves nothing behind.
TEST(OpenVinoConfig, CachesModelsOfTheHostOnly) {
  const testing::TestFolder test_folder;
  const std::filesystem::path folder = test_folder.path() / "cache";
  const Host host("{\"cache_dir\": \"" + folder.string() + "\"}");
  ASSERT_TRUE(host.opened()) << host.opened().message;
  ExpectMeanWorks(host);
  EXPECT_FALSE(std::filesystem::exists(folder) && !std::filesystem::is_empty(folder));
  LoadOptions options = OpenVinoOptions();
  options.path = ModelPath("mean.xml");
  ExpectMeanWorks(host, options);
  ASSERT_TRUE(std::filesystem::exists(folder));
  EXPECT_FALSE(std::filesystem::is_empty(folder));
  ExpectMeanWorks(host, options);  // from there
  EXPECT_THAT(host.log(), Not(HasSubstr("warning: ")));
  // If others may write to the folder, they could replace the model.
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::all);
  ExpectMeanWorks(host, options);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_THAT(host.log(), HasSubstr("mode 0700"));
}

TEST(OpenVinoTarget, ServesAuto) {
  const Host host("{}", 2);
  LoadOptions options = IrOptions("mean");
  options.target = WASINN_TARGET_AUTO;
  ExpectMeanWorks(host, options);
  options.host_config = R"({"device": "AUTO:CPU", "threads": 1})";
  ExpectMeanWorks(host, options);
  const Model chosen(host, IrXml("mean"), options);
  EXPECT_THAT(Description(host, chosen), HasSubstr(R"("device":"CPU")")) << "what OpenVINO has chosen";
  options.host_config = R"({"device": "NONSENSE"})";
  options.cpu_fallback = true;  // which is for targets
  const Model model(host, IrXml("mean"), options);
  EXPECT_FALSE(model.loaded());
  EXPECT_THAT(model.loaded().message, HasSubstr("NONSENSE"));
}

}  // namespace
}  // namespace wasinn::test
