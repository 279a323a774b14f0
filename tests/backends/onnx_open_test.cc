// Opening the backend: the framework's library, several hosts, configuration, targets.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "backends/expect.h"
#include "backends/native.h"
#include "backends/onnx_writer.h"
#include "backends/test_host.h"
#include "onnx/devices.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

void ExpectMeanWorks(const Host& host) {
  const Model model(host, ModelBytes("mean.onnx"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({1, 3, 8, 8}, std::vector<float>(192, 2))));
  const Result computed = context.Compute();
  ASSERT_TRUE(computed) << computed.message;
  EXPECT_EQ(static_cast<const float*>(context.View(0).data)[2], 2);
}

TEST(OnnxOpen, TellsWhatItRunsOn) {
  const Host host;
  ASSERT_TRUE(host.opened()) << host.opened().message;
  EXPECT_STREQ(host.info()->framework, "ONNX Runtime");
  EXPECT_THAT(host.info()->version, MatchesRegex("1\\.[0-9]+\\.[0-9]+.*"));
  EXPECT_TRUE(std::filesystem::exists(host.info()->library)) << host.info()->library;
  EXPECT_THAT(host.info()->devices, StartsWith("cpu"));
  EXPECT_STREQ(host.table().name, "onnx");
  EXPECT_STREQ(host.table().install, "scripts/deps.sh onnxruntime");
}

// What targets can be: other providers are for who names them.
TEST(OnnxOpen, NamesTheGpuThatTheTargetUses) {
  const std::vector<std::string> cuda = {"TensorrtExecutionProvider", "CUDAExecutionProvider", "CPUExecutionProvider"};
  EXPECT_EQ(onnx::DevicesText(cuda), "cpu, gpu (CUDA)");
  const std::vector<std::string> web_gpu = {"WebGpuExecutionProvider", "CPUExecutionProvider"};
  EXPECT_EQ(onnx::DevicesText(web_gpu), "cpu, gpu (WebGPU)");
  const std::vector<std::string> others = {"TensorrtExecutionProvider", "ROCMExecutionProvider",
                                           "MIGraphXExecutionProvider", "OpenVINOExecutionProvider",
                                           "AzureExecutionProvider",    "CPUExecutionProvider"};
  EXPECT_EQ(onnx::DevicesText(others), "cpu");
}

TEST(OnnxOpen, LeavesTelemetryOff) {
  const Host host;
  ASSERT_TRUE(host.opened()) << host.opened().message;
  EXPECT_STREQ(std::getenv("ORT_DISABLE_TELEMETRY"), "1");
}

TEST(OnnxOpen, SaysWhatIsMissingAndHowToGetIt) {
  const Host host(R"({"library": "/nonexistent/libonnxruntime.so"})");
  EXPECT_EQ(host.opened().code, WASINN_UNSUPPORTED_OPERATION);
  EXPECT_THAT(host.opened().message,
              AllOf(HasSubstr("/nonexistent/libonnxruntime.so"), HasSubstr("scripts/deps.sh onnxruntime")));
  const Host relative(R"({"library": "libonnxruntime.so"})");
  EXPECT_EQ(relative.opened().code, WASINN_INVALID_ARGUMENT);
  // A library, but not this one.
  Dl_info info = {};
  ASSERT_NE(dladdr(reinterpret_cast<const void*>(&std::printf), &info), 0);
  const Host other("{\"library\": \"" + std::filesystem::canonical(info.dli_fname).string() + "\"}");
  EXPECT_EQ(other.opened().code, WASINN_UNSUPPORTED_OPERATION);
}

TEST(OnnxOpen, TakesAFolderToo) {
  const auto folder = std::filesystem::path(testing::FrameworkFile("onnx")).parent_path();
  const Host host("{\"library\": \"" + folder.string() + "\"}");
  ASSERT_TRUE(host.opened()) << host.opened().message;
  ExpectMeanWorks(host);
}

TEST(OnnxOpen, ServesSeveralHostsOneAfterAnotherAndAtOnce) {
  for (int i = 0; i < 3; ++i) {
    const Host host;
    ASSERT_TRUE(host.opened()) << host.opened().message;
    ExpectMeanWorks(host);
  }
  auto first = std::make_unique<Host>();
  const Host second;
  {
    // Both hold memory of models to their limits, though ONNX Runtime has one environment.
    const Model model(second, ModelBytes("huge_intermediate.onnx"));
    first.reset();
    Context context(model, 1 << 20);
    ASSERT_TRUE(context.Set(0, Floats({1}, {1})));
    EXPECT_EQ(context.Compute().code, WASINN_TOO_LARGE);
  }
  ExpectMeanWorks(second);
  EXPECT_THAT(second.log(), Not(HasSubstr("warning")));
}

TEST(OnnxOpen, ServesHostsOfManyThreads) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 5; ++i) {
        const Host host;
        ASSERT_TRUE(host.opened()) << host.opened().message;
        ExpectMeanWorks(host);
        EXPECT_THAT(host.log(), IsEmpty());
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(OnnxOpen, WorksBesideTheProgramsOwnUse) {
  const NativeOrt native;
  auto host = std::make_unique<Host>("{}", 2);
  ASSERT_TRUE(host->opened()) << host->opened().message;
  ExpectMeanWorks(*host);
  EXPECT_THAT(host->log(), HasSubstr("without a thread pool"));
  {
    const Model model(*host, ModelBytes("huge_output.onnx"));
    Context context(model, 1 << 20);
    ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_I64, {3}, {1024, 1024, 1024})));
    EXPECT_EQ(context.Compute().code, WASINN_TOO_LARGE);
  }
  host.reset();
  const auto out =
      native.Run(ModelBytes("two_in_two_out.onnx"), {Floats({2, 2}, {5, 6, 7, 8}), Floats({2, 2}, {1, 1, 1, 1})});
  EXPECT_THAT(out.at(0).As<float>(), ::testing::ElementsAre(4, 5, 6, 7));
}

TEST(OnnxThreads, ComputesOnTheCallersThreadByDefault) {
  const Host host;
  ASSERT_TRUE(host.opened()) << host.opened().message;
  const int before = CountThreads();  // ONNX Runtime's environment has one of its own, which computes nothing
  ExpectMeanWorks(host);
  EXPECT_EQ(CountThreads(), before);
}

TEST(OnnxThreads, SharesOnePoolOfTheBudget) {
  int before = 0;
  {
    const Host alone;
    ASSERT_TRUE(alone.opened()) << alone.opened().message;
    before = CountThreads();
  }
  const Host host("{}", 3);
  ASSERT_TRUE(host.opened()) << host.opened().message;
  EXPECT_THAT(host.log(), IsEmpty());
  for (int i = 0; i < 3; ++i) ExpectMeanWorks(host);
  EXPECT_EQ(CountThreads(), before + 2);
  LoadOptions alone;
  alone.host_config = R"({"threads": 1})";
  const Model model(host, ModelBytes("mean.onnx"), alone);
  EXPECT_TRUE(model.loaded()) << model.loaded().message;
  EXPECT_EQ(CountThreads(), before + 2);
  alone.host_config = R"({"threads": 2})";
  const Model between(host, ModelBytes("mean.onnx"), alone);
  EXPECT_EQ(between.loaded().code, WASINN_INVALID_ARGUMENT);
}

TEST(OnnxThreads, KeepsToTheBudget) {
  const Host host(R"({"threads": 8})", 2);
  EXPECT_EQ(host.opened().code, WASINN_INVALID_ARGUMENT);
  EXPECT_THAT(host.opened().message, HasSubstr("from 1 to 2"));
}

TEST(OnnxConfig, ReadsAllKeys) {
  const Host host(R"({"threads": 1, "spinning": true, "cache_bytes": 0, "optimization": "basic", "providers": ["cpu"],
                      "session": {"session.set_denormal_as_zero": "1"}})");
  ASSERT_TRUE(host.opened()) << host.opened().message;
  ExpectMeanWorks(host);
  for (const char* config :
       {R"({"optimization": "most"})", R"({"spinning": 1})", R"({"providers": "cpu"})", "nonsense"}) {
    EXPECT_EQ(Host(config).opened().code, WASINN_INVALID_ARGUMENT) << config;
  }
}

TEST(OnnxConfig, DocumentsItsKeys) {
  const Host host;
  for (size_t i = 0; i < host.table().n_keys; ++i) {
    const wasinn_key& key = host.table().keys[i];
    EXPECT_NE(key.where, 0u) << key.name;
    EXPECT_GT(std::string(key.description).size(), 10u) << key.name;
    const std::string name = key.name;
    EXPECT_EQ((key.where & WASINN_KEY_GUEST) != 0, name == "optimization" || name == "threads") << name;
  }
}

// The core passes on only what a guest may set; the backend does not rely on it.
TEST(OnnxConfig, ReadsOnlyHarmlessKeysFromAGuest) {
  const Host host;
  LoadOptions options;
  options.guest_config = R"({"optimization": "off", "providers": ["nonsense"], "session": {"session.nonsense": "1"}})";
  const Model model(host, ModelBytes("mean.onnx"), options);
  EXPECT_TRUE(model.loaded()) << model.loaded().message;
  options.guest_config = R"({"optimization": "off ../../etc"})";
  EXPECT_EQ(Model(host, ModelBytes("mean.onnx"), options).loaded().code, WASINN_INVALID_ARGUMENT);
}

TEST(OnnxConfig, NamesProvidersThatAreNotThere) {
  const Host host;
  LoadOptions options;
  options.host_config = R"({"providers": [{"name": "cuda", "device_id": 0}, "cpu"]})";
  options.cpu_fallback = true;  // which is for targets: providers that are named are those or none
  const Model model(host, ModelBytes("mean.onnx"), options);
  if (std::string(host.info()->devices).find("CUDA") != std::string::npos) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(model.loaded().code, WASINN_UNSUPPORTED_OPERATION);
  EXPECT_THAT(model.loaded().message, AllOf(HasSubstr("'cuda'"), HasSubstr("CPUExecutionProvider")));
}

bool HasGpu(const Host& host, const char* api) {
  return std::string(host.info()->devices).find(api) != std::string::npos;
}

TEST(OnnxTarget, SaysThatThereIsNoGpuOrFallsBack) {
  const Host host;
  if (HasGpu(host, "gpu")) GTEST_SKIP() << "there is a GPU";
  LoadOptions options;
  options.target = WASINN_GPU;
  const Model gpu(host, ModelBytes("mean.onnx"), options);
  EXPECT_EQ(gpu.loaded().code, WASINN_UNSUPPORTED_OPERATION);
  EXPECT_THAT(gpu.loaded().message,
              AllOf(HasSubstr("the WebGPU execution provider is in"), HasSubstr("CPUExecutionProvider")));
  EXPECT_THAT(host.log(), IsEmpty());
  options.cpu_fallback = true;
  for (int i = 0; i < 2; ++i) {
    const Model cpu(host, ModelBytes("mean.onnx"), options);
    EXPECT_TRUE(cpu.loaded()) << cpu.loaded().message;
    EXPECT_THAT(host.table().describe(cpu.get()), HasSubstr(R"("device":"cpu")")) << "not the one that was asked for";
  }
  const std::string log = host.log();
  EXPECT_THAT(log, StartsWith("warning: using the CPU instead"));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << "once";
}

TEST(OnnxTarget, ServesAutoAndNoTpu) {
  const Host host;
  LoadOptions options;
  options.target = WASINN_AUTO;
  const Model automatic(host, ModelBytes("mean.onnx"), options);
  ASSERT_TRUE(automatic.loaded());
  std::string device = R"("device":"cpu")";
  if (HasGpu(host, "CUDA")) device = R"("device":"cuda,cpu")";
  if (HasGpu(host, "WebGPU")) device = R"("device":"webgpu,cpu")";
  EXPECT_THAT(host.table().describe(automatic.get()), HasSubstr(device));
  options.target = WASINN_TPU;
  EXPECT_EQ(Model(host, ModelBytes("mean.onnx"), options).loaded().code, WASINN_UNSUPPORTED_OPERATION);
  options.cpu_fallback = true;
  EXPECT_TRUE(Model(host, ModelBytes("mean.onnx"), options).loaded());
}

// ONNX Runtime's words go to the log of the host whose model they are about, and nowhere else.
TEST(OnnxLog, GoesToTheHost) {
  const Host quiet;
  const Host host;
  // Its unused initializer is worth a warning.
  const Graph graph = {.nodes = {Node("Relu", {"x"}, {"y"})},
                       .constants = {Constant<float>("unused", kFloat, {1}, {1})},
                       .inputs = {Value("x", kFloat, {1})},
                       .outputs = {Value("y", kFloat, {1})}};
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  {
    const Model wordy(host, ModelOf(graph));
    EXPECT_TRUE(wordy.loaded()) << wordy.loaded().message;
    const Model model(host, ModelBytes("huge_output.onnx"));
    Context context(model, 1 << 20);
    context.Set(0, MakeTensor<int64_t>(WASINN_I64, {3}, {1024, 1024, 1024}));
    EXPECT_EQ(context.Compute().code, WASINN_TOO_LARGE);
  }
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), IsEmpty());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), IsEmpty());
  EXPECT_THAT(host.log(), HasSubstr("info: ONNX Runtime: "));
  // What a guest can cause again and again is for debugging.
  EXPECT_THAT(host.log(), HasSubstr("debug: ONNX Runtime: "));
  EXPECT_THAT(host.log(), Not(HasSubstr("error: ONNX Runtime: Non-zero")));
  EXPECT_THAT(quiet.log(), IsEmpty());
}

}  // namespace
}  // namespace wasinn::test
