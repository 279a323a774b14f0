// Opening the backend: the framework's library, several hosts, configuration, targets.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>

#include "backends/openvino_native.h"
#include "backends/test_host.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

void ExpectMeanWorks(const Host& host, const LoadOptions& options = IrOptions("mean")) {
  const Model model(host, IrXml("mean"), options);
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({1, 3, 8, 8}, std::vector<float>(192, 2))));
  const Result computed = context.Compute();
  ASSERT_TRUE(computed) << computed.message;
  EXPECT_EQ(static_cast<const float*>(context.View(0).data)[2], 2);
}

std::string Description(const Host& host, const Model& model) { return host.table().describe(model.get()); }

bool HasDevice(const Host& host, const char* device) {
  return std::string(host.info()->devices).find(device) != std::string::npos;
}

// The log without what OpenVINO itself said, as it does of a machine without /sys.
std::string Warnings(const Host& host) {
  std::istringstream log(host.log());
  std::string warnings;
  for (std::string line; std::getline(log, line);) {
    if (!line.starts_with("debug: ")) warnings += line + "\n";
  }
  return warnings;
}

TEST(OpenVinoOpen, TellsWhatItRunsOn) {
  const Host host;
  ASSERT_TRUE(host.opened()) << host.opened().message;
  EXPECT_STREQ(host.info()->framework, "OpenVINO");
  EXPECT_THAT(host.info()->version, StartsWith("20"));
  EXPECT_TRUE(std::filesystem::exists(host.info()->library)) << host.info()->library;
  EXPECT_THAT(host.info()->devices, StartsWith("cpu"));
  EXPECT_STREQ(host.table().name, "openvino");
  EXPECT_STREQ(host.table().install, "scripts/deps.sh openvino");
  ASSERT_EQ(host.table().n_formats, 1u) << "ONNX, TensorFlow and TensorFlow Lite have backends of their own";
  EXPECT_STREQ(host.table().formats[0]->name, "openvino");
}

TEST(OpenVinoOpen, SaysWhatIsMissingAndHowToGetIt) {
  const Host host(R"({"library": "/nonexistent/libopenvino_c.so"})");
  EXPECT_EQ(host.opened().code, WASINN_UNSUPPORTED_OPERATION);
  EXPECT_THAT(host.opened().message,
              AllOf(HasSubstr("/nonexistent/libopenvino_c.so"), HasSubstr("scripts/deps.sh openvino")));
  const Host relative(R"({"library": "libopenvino_c.so"})");
  EXPECT_EQ(relative.opened().code, WASINN_INVALID_ARGUMENT);
  // A library, but not this one.
  Dl_info info = {};
  ASSERT_NE(dladdr(reinterpret_cast<const void*>(&std::printf), &info), 0);
  const Host other("{\"library\": \"" + std::filesystem::canonical(info.dli_fname).string() + "\"}");
  EXPECT_EQ(other.opened().code, WASINN_UNSUPPORTED_OPERATION);
}

TEST(OpenVinoOpen, TakesAFolderToo) {
  const auto folder = std::filesystem::path(testing::FrameworkFile("openvino")).parent_path();
  const Host host("{\"library\": \"" + folder.string() + "\"}");
  ASSERT_TRUE(host.opened()) << host.opened().message;
  ExpectMeanWorks(host);
}

TEST(OpenVinoOpen, ServesSeveralHostsOneAfterAnotherAndAtOnce) {
  for (int i = 0; i < 3; ++i) {
    const Host host;
    ASSERT_TRUE(host.opened()) << host.opened().message;
    ExpectMeanWorks(host);
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 3; ++i) {
        const Host host;
        ASSERT_TRUE(host.opened()) << host.opened().message;
        ExpectMeanWorks(host);
        EXPECT_THAT(Warnings(host), IsEmpty());
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(OpenVinoConfig, KeepsToTheBudget) {
  const Host host(R"({"threads": 8})", 2);
  EXPECT_EQ(host.opened().code, WASINN_INVALID_ARGUMENT);
  EXPECT_THAT(host.opened().message, HasSubstr("from 1 to 2"));
  const Host two("{}", 2);
  LoadOptions options = IrOptions("mean");
  options.host_config = R"({"threads": 2, "streams": 2})";
  const Model model(two, IrXml("mean"), options);
  EXPECT_EQ(model.loaded().code, WASINN_INVALID_ARGUMENT);
  EXPECT_THAT(model.loaded().message, HasSubstr("streams"));
}

TEST(OpenVinoConfig, ReachesOpenVino) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "OpenVINO has no second thread here";
  const Host host("{}", 2);
  LoadOptions options = IrOptions("mean");
  options.host_config =
      R"({"threads": 1, "streams": 2, "performance": "throughput", "precision": "f32", "properties": {"ENABLE_HYPER_THREADING": "NO"}})";
  const Model model(host, IrXml("mean"), options);
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
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
    EXPECT_EQ(Host(config).opened().code, WASINN_INVALID_ARGUMENT) << config;
  }
}

TEST(OpenVinoConfig, DocumentsItsKeys) {
  const Host host;
  for (size_t i = 0; i < host.table().n_keys; ++i) {
    const wasinn_key& key = host.table().keys[i];
    const std::string name = key.name;
    EXPECT_NE(key.where, 0u) << name;
    EXPECT_GT(std::string(key.description).size(), 10u) << name;
    EXPECT_EQ((key.where & WASINN_KEY_GUEST) != 0, name == "threads" || name == "precision" || name == "performance")
        << name;
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
  EXPECT_EQ(Model(host, IrXml("mean"), options).loaded().code, WASINN_INVALID_ARGUMENT);
}

// Compiled models of the host's own files are kept there; what a guest sends leaves nothing behind.
TEST(OpenVinoConfig, CachesModelsOfTheHostOnly) {
  const auto folder = std::filesystem::temp_directory_path() / ("wasinn-openvino-cache-" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  const Host host("{\"cache_dir\": \"" + folder.string() + "\"}");
  ASSERT_TRUE(host.opened()) << host.opened().message;
  ExpectMeanWorks(host);
  EXPECT_FALSE(std::filesystem::exists(folder) && !std::filesystem::is_empty(folder));
  LoadOptions options;
  options.encoding = "openvino";
  options.path = ModelPath("mean.xml");
  ExpectMeanWorks(host, options);
  ASSERT_TRUE(std::filesystem::exists(folder));
  EXPECT_FALSE(std::filesystem::is_empty(folder));
  ExpectMeanWorks(host, options);  // from there
  EXPECT_THAT(Warnings(host), IsEmpty());
  // Where others may write, they could put another model in its place.
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::all);
  ExpectMeanWorks(host, options);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_THAT(Warnings(host), HasSubstr("mode 0700"));
  std::filesystem::remove_all(folder);
}

TEST(OpenVinoTarget, SaysThatThereIsNoDeviceOrFallsBack) {
  for (const auto& [target, word, device] :
       {std::tuple(WASINN_GPU, "target gpu", "gpu ("), std::tuple(WASINN_TPU, "target tpu", "tpu (")}) {
    const Host host;
    if (HasDevice(host, device)) continue;
    LoadOptions options = IrOptions("mean");
    options.target = target;
    const Model model(host, IrXml("mean"), options);
    EXPECT_EQ(model.loaded().code, WASINN_UNSUPPORTED_OPERATION);
    EXPECT_THAT(model.loaded().message, AllOf(HasSubstr(word), HasSubstr("CPU"), HasSubstr("plugin")));
    EXPECT_THAT(Warnings(host), IsEmpty());
    options.cpu_fallback = true;
    for (int i = 0; i < 2; ++i) ExpectMeanWorks(host, options);
    const Model served(host, IrXml("mean"), options);
    EXPECT_THAT(Description(host, served), HasSubstr(R"("device":"CPU")")) << "not the one that was asked for";
    const std::string log = Warnings(host);
    EXPECT_THAT(log, StartsWith("warning: using the CPU instead"));
    EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << "once";
  }
}

TEST(OpenVinoTarget, ServesAuto) {
  const Host host("{}", 2);
  LoadOptions options = IrOptions("mean");
  options.target = WASINN_AUTO;
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

TEST(OpenVinoLog, IsNeitherStdoutNorStderr) {
  const Host host;
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  {
    ExpectMeanWorks(host);
    LoadOptions options;
    options.encoding = "openvino";
    EXPECT_FALSE(Model(host, "<net></net>", options).loaded());
    EXPECT_FALSE(Model(host, "neither", options).loaded());
  }
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), IsEmpty());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), IsEmpty());
}

}  // namespace
}  // namespace wasinn::test
