// Several hosts and the program itself on one ONNX Runtime, threads, configuration, targets; framework_test.cc has the rest.
#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include "backends/expect.h"
#include "backends/native_place.h"
#include "backends/onnx_writer.h"
#include "onnx/devices.h"

namespace wasinn::test {
namespace {

void ExpectMeanWorks(const Host& host) {
  const LoadedModel model(host, ModelBytes("mean.onnx"));
  EXPECT_EQ(Compute(model, {Floats({1, 3, 8, 8}, std::vector<float>(192, 2))}).As<float>(),
            (std::vector<float>{2, 2, 2}));
}

// Memory of models is held to its limits.
void ExpectLimits(const Host& host) {
  const LoadedModel model(host, ModelBytes("huge_intermediate.onnx"));
  Context context(model, 1 << 20);
  ASSERT_TRUE(context.Set(0, Floats({1}, {1})));
  EXPECT_EQ(context.Compute().code, WASINN_ERROR_TOO_LARGE);
}

// The providers for targets; models get others only by their names.
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

// ONNX Runtime has one environment for all of them.
TEST(OnnxOpen, HoldsModelsOfTheNextHostToTheirLimits) {
  auto first = std::make_unique<Host>();
  const Host second;
  first.reset();
  ExpectLimits(second);
  EXPECT_THAT(second.log(), Not(HasSubstr("warning")));
}

// As any program calls it: through an environment of its own, which lives as long as this.
class OfTheProgram {
 public:
  OfTheProgram() {
    void* library = dlopen(NativeLibrary("onnx").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    const auto base = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(library, "OrtGetApiBase"));
    api_ = base()->GetApi(ORT_API_VERSION);
    Check(api_->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "program", &env_));
  }
  ~OfTheProgram() { api_->ReleaseEnv(env_); }
  OfTheProgram(const OfTheProgram&) = delete;
  OfTheProgram& operator=(const OfTheProgram&) = delete;

  void Load(const std::string& model) const {
    OrtSessionOptions* options = nullptr;
    OrtSession* session = nullptr;
    Check(api_->CreateSessionOptions(&options));
    Check(api_->CreateSessionFromArray(env_, model.data(), model.size(), options, &session));
    api_->ReleaseSession(session);
    api_->ReleaseSessionOptions(options);
  }

 private:
  void Check(OrtStatus* status) const {
    if (status != nullptr) throw std::runtime_error(api_->GetErrorMessage(status));
  }

  const OrtApi* api_ = nullptr;
  OrtEnv* env_ = nullptr;
};

TEST(OnnxOpen, WorksBesideTheProgramsOwnUse) {
  const OfTheProgram program;
  {
    const Host host("{}", 2);
    ASSERT_TRUE(host.opened()) << host.opened().message;
    ExpectMeanWorks(host);
    EXPECT_THAT(host.log(), HasSubstr("without a thread pool"));
    ExpectLimits(host);
  }
  program.Load(ModelBytes("mean.onnx"));
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
  const LoadedModel model(host, ModelBytes("mean.onnx"), alone);
  EXPECT_EQ(CountThreads(), before + 2);
  alone.host_config = R"({"threads": 2})";
  const Model between(host, ModelBytes("mean.onnx"), alone);
  EXPECT_EQ(between.loaded().code, WASINN_ERROR_INVALID_ARGUMENT);
}

TEST(OnnxConfig, ReadsAllKeys) {
  const Host host(R"({"threads": 1, "spinning": true, "cache_bytes": 0, "optimization": "basic", "providers": ["cpu"],
                      "session": {"session.set_denormal_as_zero": "1"}})");
  ASSERT_TRUE(host.opened()) << host.opened().message;
  ExpectMeanWorks(host);
  for (const char* config :
       {R"({"optimization": "most"})", R"({"spinning": 1})", R"({"providers": "cpu"})", "nonsense"}) {
    EXPECT_EQ(Host(config).opened().code, WASINN_ERROR_INVALID_ARGUMENT) << config;
  }
}

// The core passes on only what a guest may set; the backend does not rely on it.
TEST(OnnxConfig, ReadsOnlyHarmlessKeysFromAGuest) {
  const Host host;
  LoadOptions options;
  options.guest_config = R"({"optimization": "off", "providers": ["nonsense"], "session": {"session.nonsense": "1"}})";
  const LoadedModel model(host, ModelBytes("mean.onnx"), options);
  options.guest_config = R"({"optimization": "off ../../etc"})";
  EXPECT_EQ(Model(host, ModelBytes("mean.onnx"), options).loaded().code, WASINN_ERROR_INVALID_ARGUMENT);
}

TEST(OnnxConfig, NamesProvidersThatAreNotThere) {
  const Host host;
  LoadOptions options;
  options.host_config = R"({"providers": [{"name": "cuda", "device_id": 0}, "cpu"]})";
  options.cpu_fallback = true;  // which is for targets: providers that are named are those or none
  const Model model(host, ModelBytes("mean.onnx"), options);
  if (std::string(host.info()->devices).find("CUDA") != std::string::npos) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(model.loaded().code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_THAT(model.loaded().message, AllOf(HasSubstr("'cuda'"), HasSubstr("CPUExecutionProvider")));
}

bool HasGpu(const Host& host, const char* api) {
  return std::string(host.info()->devices).find(api) != std::string::npos;
}

TEST(OnnxTarget, ServesAutoAndNoTpu) {
  const Host host;
  LoadOptions options;
  options.target = WASINN_TARGET_AUTO;
  const LoadedModel automatic(host, ModelBytes("mean.onnx"), options);
  std::string device = R"("device":"cpu")";
  if (HasGpu(host, "CUDA")) device = R"("device":"cuda,cpu")";
  if (HasGpu(host, "WebGPU")) device = R"("device":"webgpu,cpu")";
  EXPECT_THAT(host.table().describe(automatic.get()), HasSubstr(device));
  options.target = WASINN_TARGET_TPU;
  EXPECT_EQ(Model(host, ModelBytes("mean.onnx"), options).loaded().code, WASINN_ERROR_UNSUPPORTED_OPERATION);
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
    const LoadedModel wordy(host, ModelOf(graph));
    const Model model(host, ModelBytes("huge_output.onnx"));
    Context context(model, 1 << 20);
    context.Set(0, MakeTensor<int64_t>(WASINN_DTYPE_I64, {3}, {1024, 1024, 1024}));
    EXPECT_EQ(context.Compute().code, WASINN_ERROR_TOO_LARGE);
  }
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), IsEmpty());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), IsEmpty());
  EXPECT_THAT(host.log(), HasSubstr("info: ONNX Runtime: "));
  // Lines that a guest can cause again and again are for debugging.
  EXPECT_THAT(host.log(), HasSubstr("debug: ONNX Runtime: "));
  EXPECT_THAT(host.log(), Not(HasSubstr("error: ONNX Runtime: Non-zero")));
  EXPECT_THAT(quiet.log(), IsEmpty());
}

}  // namespace
}  // namespace wasinn::test
