// Opening the backend: the library, several hosts, configuration, threads, targets without a device.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <thread>

#include "backends/expect.h"
#include "backends/test_host.h"
#include "backends/tflite_native.h"
#include "backends/tflite_writer.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

Result AddOnce(const Host& host, const LoadOptions& options = TfLiteOptions()) {
  const Model model(host, ModelBytes("add.tflite"), options);
  if (!model.loaded()) return model.loaded();
  Context context(model);
  for (uint32_t i = 0; i < 2; ++i) EXPECT_TRUE(context.Set(i, Floats({2, 2}, {1, 2, 3, 4})));
  Result computed = context.Compute();
  if (!computed) return computed;
  Tensor out;
  EXPECT_TRUE(context.Get(0, &out));
  EXPECT_THAT(out.As<float>(), ElementsAre(2, 4, 6, 8));
  return {};
}

void ExpectAddWorks(const Host& host, const LoadOptions& options = TfLiteOptions()) {
  const Result result = AddOnce(host, options);
  EXPECT_TRUE(result) << result.message;
}

TEST(TfLiteOpen, TellsWhatItRunsOn) {
  const Host host;
  ASSERT_TRUE(host.opened()) << host.opened().message;
  EXPECT_STREQ(host.info()->framework, "TensorFlow Lite");
  EXPECT_THAT(host.info()->version, MatchesRegex("2\\.[0-9]+\\.[0-9]+.*"));
  EXPECT_TRUE(std::filesystem::exists(host.info()->library)) << host.info()->library;
  EXPECT_STREQ(host.info()->devices, "cpu");
  EXPECT_STREQ(host.table().name, "tflite");
  EXPECT_STREQ(host.table().install, "scripts/deps.sh tflite");
  ASSERT_EQ(host.table().n_formats, 1u);
  EXPECT_STREQ(host.table().formats[0]->name, "tensorflowlite");
  ExpectAddWorks(host);
}

TEST(TfLiteOpen, SaysWhatIsMissingAndHowToGetIt) {
  const Host host(R"({"library": "/nonexistent/libtensorflowlite_c.so"})");
  EXPECT_EQ(host.opened().code, WASINN_UNSUPPORTED_OPERATION);
  EXPECT_THAT(host.opened().message,
              AllOf(HasSubstr("/nonexistent/libtensorflowlite_c.so"), HasSubstr("scripts/deps.sh tflite")));
  EXPECT_EQ(Host(R"({"library": "libtensorflowlite_c.so"})").opened().code, WASINN_INVALID_ARGUMENT);
  // A library, but not this one.
  Dl_info info = {};
  ASSERT_NE(dladdr(reinterpret_cast<const void*>(&std::printf), &info), 0);
  const Host other("{\"library\": \"" + std::filesystem::canonical(info.dli_fname).string() + "\"}");
  EXPECT_EQ(other.opened().code, WASINN_UNSUPPORTED_OPERATION);
}

TEST(TfLiteOpen, TakesAFolderToo) {
  const auto folder = std::filesystem::path(testing::FrameworkFile("tflite")).parent_path();
  const Host host("{\"library\": \"" + folder.string() + "\"}");
  ASSERT_TRUE(host.opened()) << host.opened().message;
  ExpectAddWorks(host);
}

TEST(TfLiteOpen, ServesHostsOfManyThreads) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 5; ++i) {
        const Host host("{}", 2);
        ASSERT_TRUE(host.opened()) << host.opened().message;
        ExpectAddWorks(host);
        EXPECT_THAT(host.log(), IsEmpty());
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(TfLiteOpen, WritesNothingToTheTerminal) {
  const Host host;
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  ExpectAddWorks(host);
  const Model none(host, "no model at all", TfLiteOptions());
  const Model cut(host, ModelBytes("add.tflite").substr(0, 300), TfLiteOptions());
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), IsEmpty());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), IsEmpty());
}

TEST(TfLiteThreads, ComputesOnTheCallersThreadByDefault) {
  const Host host;
  ASSERT_TRUE(host.opened()) << host.opened().message;
  const int before = CountThreads();
  const Model model(host, ReadFile(testing::InSources("models/digits.tflite")), TfLiteOptions());
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({1, 1, 8, 8}, std::vector<float>(64))));
  ASSERT_TRUE(context.Compute());
  EXPECT_EQ(CountThreads(), before);
}

// Each context keeps the threads of its interpreter, asleep; tflite_threads_test.cc has how many compute.
TEST(TfLiteThreads, KeepsToTheBudget) {
  const Host host("{}", 3);
  ASSERT_TRUE(host.opened()) << host.opened().message;
  const int before = CountThreads();
  const Model model(host, ReadFile(testing::InSources("models/digits.tflite")), TfLiteOptions());
  const auto compute = [](Context* context) {
    ASSERT_TRUE(context->Set(0, Floats({1, 1, 8, 8}, std::vector<float>(64))));
    ASSERT_TRUE(context->Compute());
  };
  {
    Context first(model), second(model), third(model);
    for (Context* context : {&first, &second, &third}) compute(context);
    EXPECT_GT(CountThreads(), before);
    EXPECT_LE(CountThreads(), before + 3 * 2);
  }
  const Host budget(R"({"threads": 8})", 2);
  EXPECT_EQ(budget.opened().code, WASINN_INVALID_ARGUMENT);
  EXPECT_THAT(budget.opened().message, HasSubstr("from 1 to 2"));
}

TEST(TfLiteThreads, AModelOrAGuestCanAskForFewer) {
  const Host host("{}", 4);
  const int before = CountThreads();
  LoadOptions options = TfLiteOptions();
  options.guest_config = R"({"threads": 1})";
  const Model guest(host, ModelBytes("sum.tflite"), options);
  ASSERT_TRUE(guest.loaded()) << guest.loaded().message;
  options = TfLiteOptions();
  options.host_config = R"({"threads": 1})";
  options.guest_config = R"({"threads": 64})";
  const Model model(host, ModelBytes("sum.tflite"), options);
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  EXPECT_EQ(CountThreads(), before);
}

TEST(TfLiteConfig, ReadsAllKeys) {
  const Host host(R"({"threads": 1, "xnnpack": false, "idle_interpreters": 0,
                      "delegates": [{"name": "npu", "library": "/nonexistent.so", "device": 0}],
                      "gpu_delegate": "npu", "tpu_delegate": "npu"})");
  ASSERT_TRUE(host.opened()) << host.opened().message;
  EXPECT_STREQ(host.info()->devices, "cpu, gpu (npu), tpu (npu)");
  ExpectAddWorks(host);
  for (const char* config : {R"({"xnnpack": 1})", R"({"delegates": [{"name": "npu"}]})",
                             R"({"delegates": [{"name": "npu", "library": "x.so"}]})", R"({"gpu_delegate": "npu"})",
                             R"({"idle_interpreters": -1})", "nonsense"}) {
    EXPECT_EQ(Host(config).opened().code, WASINN_INVALID_ARGUMENT) << config;
  }
}

TEST(TfLiteConfig, DocumentsItsKeys) {
  const Host host;
  for (size_t i = 0; i < host.table().n_keys; ++i) {
    const wasinn_key& key = host.table().keys[i];
    EXPECT_NE(key.where, 0u) << key.name;
    EXPECT_GT(std::string(key.description).size(), 10u) << key.name;
    EXPECT_EQ((key.where & WASINN_KEY_GUEST) != 0, std::string(key.name) == "threads") << key.name;
  }
}

// The core passes on only what a guest may set; the backend does not rely on it.
TEST(TfLiteConfig, ReadsOnlyHarmlessKeysFromAGuest) {
  const Host host;
  LoadOptions options = TfLiteOptions();
  options.guest_config = R"({"xnnpack": 17, "delegates": [{"name": "x", "library": "/nonexistent.so"}]})";
  ExpectAddWorks(host, options);
}

TEST(TfLiteConfig, DescribesTheModel) {
  const Host host;
  LoadOptions options = TfLiteOptions();
  const Model fast(host, ModelBytes("add.tflite"), options);
  EXPECT_STREQ(
      host.table().describe(fast.get()),
      R"({"device": "cpu", "delegates": [], "xnnpack": true, "shared_weights": true, "stateful": false, "threads": 1})");
  options.host_config = R"({"xnnpack": false})";
  const Model plain(host, ModelBytes("add.tflite"), options);
  EXPECT_STREQ(
      host.table().describe(plain.get()),
      R"({"device": "cpu", "delegates": [], "xnnpack": false, "shared_weights": false, "stateful": false, "threads": 1})");
}

TEST(TfLiteTarget, SaysThatThereIsNoDelegateOrFallsBack) {
  for (const auto& [target, name] : {std::pair{WASINN_GPU, "gpu"}, std::pair{WASINN_TPU, "tpu"}}) {
    const Host host;
    LoadOptions options = TfLiteOptions();
    options.target = target;
    const Result refused = AddOnce(host, options);
    EXPECT_EQ(refused.code, WASINN_UNSUPPORTED_OPERATION);
    EXPECT_THAT(refused.message, AllOf(HasSubstr(name), HasSubstr(std::string(name) + "_delegate")));
    EXPECT_THAT(host.log(), IsEmpty());
    options.cpu_fallback = true;
    for (int i = 0; i < 2; ++i) ExpectAddWorks(host, options);
    const std::string log = host.log();
    EXPECT_THAT(log, StartsWith("warning: using the CPU instead"));
    EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << "once";
  }
  const Host host;
  LoadOptions options = TfLiteOptions();
  options.target = WASINN_AUTO;
  ExpectAddWorks(host, options);
}

}  // namespace
}  // namespace wasinn::test
