// ONNX Runtime on a device with memory of its own: WebGPU, whose Vulkan driver is one that computes on the CPU.
#include "backends/expect.h"
#include "backends/onnx_contract.h"
#include "backends/own_clock.h"
#include "backends/test_host.h"
#include "support/files.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;
using ::testing::StrEq;

LoadOptions OnGpu() {
  LoadOptions options;
  options.target = WASINN_TARGET_GPU;
  return options;
}

Subject There(Subject subject, uint32_t bindable = 0) {
  subject.options = OnGpu();
  subject.bindable = bindable;
  return subject;
}

EXPECT_CONTRACT(OnnxOnWebGpu, Contract, There(OnnxSubject("Fixed", 2), 2), There(OnnxSubject("Open", -1)),
                There(OnnxPassedOn("PassedOn", 2), 1), There(OnnxPassedOn("PassedOnOpen", -1)));
EXPECT_CONTRACT(OnnxOnWebGpu, ContractOfShapes, There(OnnxSubject("Open", -1)),
                There(OnnxPassedOn("PassedOnOpen", -1)));

// y = x * w, of [4, n] and [n, n]: the device multiplies it.
std::string Product(int64_t n) {
  std::vector<float> weights(static_cast<size_t>(n * n));
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 7) / 8;
  return ModelOf({.nodes = {Node("MatMul", {"x", "w"}, {"y"})},
                  .constants = {Constant("w", kFloat, {n, n}, weights)},
                  .inputs = {Value("x", kFloat, {4, n})},
                  .outputs = {Value("y", kFloat, {4, n})}});
}

Tensor Numbers(int64_t n, float first) {
  std::vector<float> values(static_cast<size_t>(4 * n));
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i % 5) / 4;
  return Floats({4, n}, values);
}

TEST(OnnxWebGpu, IsAGpu) {
  const Host host;
  ASSERT_TRUE(host.opened()) << host.opened().message;
  EXPECT_THAT(host.info()->devices, StrEq("cpu, gpu (WebGPU)"));
  for (const wasinn_target target : {WASINN_TARGET_GPU, WASINN_TARGET_AUTO}) {
    LoadOptions options;
    options.target = target;
    const LoadedModel model(host, ModelBytes("relu.onnx"), options);
    EXPECT_THAT(host.table().describe(model.get()), HasSubstr(R"("device":"webgpu,cpu")"));
    EXPECT_THAT(model.info().memory, StrEq("webgpu:0"));
  }
  const Model on_cpu(host, ModelBytes("relu.onnx"));
  EXPECT_EQ(on_cpu.info().memory, nullptr);
}

// From one model to the next, again and again, with numbers that change: as it comes over the host's memory, and as the
// CPU computes it.
TEST(OnnxWebGpu, KeepsTensorsBetweenModels) {
  const Host host;
  const std::string bytes = Product(64);
  const Model first(host, bytes, OnGpu()), second(host, bytes, OnGpu()), on_cpu(host, bytes);
  ASSERT_TRUE(first.loaded() && second.loaded()) << first.loaded().message << second.loaded().message;
  Context one(first), two(second), native(on_cpu);
  one.Keep({0});
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(one.Set(0, Numbers(64, static_cast<float>(i))));
    ASSERT_TRUE(one.Compute());
    const Taken between(&one, 0);
    ASSERT_TRUE(between.result()) << between.result().message;
    ASSERT_THAT(between.view().memory, StrEq("webgpu:0"));
    ASSERT_TRUE(two.Bind(0, between.view()));
    ASSERT_TRUE(two.Compute());
    Tensor found, halfway, expected;
    ASSERT_TRUE(two.Get(0, &found));
    two.Unbind(0);
    ASSERT_TRUE(native.Set(0, Numbers(64, static_cast<float>(i))) && native.Compute() && native.Get(0, &halfway));
    ASSERT_TRUE(native.Set(0, halfway) && native.Compute() && native.Get(0, &expected));
    ASSERT_THAT(found.As<float>(), Pointwise(FloatNear(0.5), expected.As<float>())) << "of up to 100,000, in f32";
  }
}

TEST(OnnxWebGpu, BindsNoMemoryOfOthers) {
  const Host host;
  const Model model(host, Product(16), OnGpu()), on_cpu(host, Product(16));
  Context context(model), cpu(on_cpu);
  ASSERT_TRUE(context.Set(0, Numbers(16, 0)));
  context.Keep({0});
  ASSERT_TRUE(context.Compute());
  const Taken kept(&context, 0);
  ASSERT_TRUE(kept.result());
  const Result refused = cpu.Bind(0, kept.view());
  EXPECT_EQ(refused.code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(refused.message, HasSubstr("lies in the memory of webgpu:0, where this model does not compute"));
}

// No element is no memory, and an address that need not be one.
TEST(OnnxWebGpu, KeepsTensorsWithoutElements) {
  const Host host;
  const auto rows = [](const char* op) {
    return ModelOf({.nodes = {Node(op, {"x"}, {"y"})},
                    .inputs = {Value("x", kFloat, {kUnknown, 3})},
                    .outputs = {Value("y", kFloat, {kUnknown, 3})}});
  };
  const Model first(host, rows("Relu"), OnGpu()), second(host, rows("Neg"), OnGpu());
  Context one(first), two(second);
  one.Keep({0});
  for (const int64_t n : {0, 2, 0}) {
    ASSERT_TRUE(one.Set(0, Floats({n, 3}, std::vector<float>(static_cast<size_t>(3 * n), 2))));
    ASSERT_TRUE(one.Compute());
    const Taken between(&one, 0);
    ASSERT_TRUE(between.result()) << between.result().message;
    ASSERT_TRUE(two.Bind(0, between.view()));
    MustCompute(&two);
    const Tensor found = MustGet(&two);
    two.Unbind(0);
    EXPECT_EQ(found.dims, (std::vector<int64_t>{n, 3}));
    EXPECT_EQ(found.As<float>(), std::vector<float>(static_cast<size_t>(3 * n), -2));
  }
}

// ONNX Runtime's own names for the provider mean the same device, of which there is one.
TEST(OnnxWebGpu, HasTheProvidersOwnNames) {
  const Host host;
  for (const std::string name : {"webgpu", "WebGPU", "WebGpuExecutionProvider"}) {
    LoadOptions options;
    options.host_config = R"({"providers": [")" + name + R"("]})";
    const LoadedModel model(host, ModelBytes("relu.onnx"), options);
    EXPECT_EQ(model.info().max_parallel, 1u) << name;
    EXPECT_THAT(model.info().memory, StrEq("webgpu:0")) << name;
  }
}

// A compute that waits for another model's still has its deadline.
TEST(OnnxWebGpu, EndsAComputeThatWaits) {
  const Host host;
  const LoadedModel endless(host, ModelBytes("endless.onnx"), OnGpu()), model(host, Product(16), OnGpu());
  Context first(endless), second(model);
  ASSERT_TRUE(first.Set(0, Floats({1}, {1})) && second.Set(0, Numbers(16, 0)));
  ASSERT_TRUE(second.Compute());
  {
    const Busy computes(&first);
    for (bool has_waited = false; !has_waited;) {
      Waiter waiter(&second);
      has_waited = waiter.AwaitPolls(5);
      EXPECT_EQ(has_waited ? waiter.Cancel().code : waiter.Join().code, has_waited ? WASINN_ERROR_TIMEOUT : WASINN_OK);
    }
    EXPECT_FALSE(computes.has_ended());
  }
  EXPECT_TRUE(second.Compute()) << "another time";
}

// Computes on `host` while `also` runs, again and again, in another thread.
void ComputeBeside(const Host& host, int times, const std::function<void()>& also) {
  const LoadedModel model(host, Product(16), OnGpu());
  Context context(model);
  ASSERT_TRUE(context.Set(0, Numbers(16, 0)));
  std::atomic<bool> over = false;
  std::thread other([&] {
    for (int i = 0; i < times; ++i) also();
    over = true;
  });
  while (!over) EXPECT_TRUE(context.Compute());
  other.join();
}

// A session of which nothing comes ends like any other.
TEST(OnnxWebGpu, LoadsBesideComputesWhatCannotBeServed) {
  const Host host;
  const std::string bytes = ModelOf({.nodes = {Node("MatMul", {"x", "w"}, {"y"})},
                                     .constants = {Constant("w", kFloat, {2, 2}, std::vector<float>{1, 2, 3, 4})},
                                     .inputs = {Value("x", kFloat, {2, 2})},
                                     .outputs = {Value("y", kFloat, {2, 2}), Value("y", kFloat, {2, 2})}});
  ComputeBeside(host, 30,
                [&] { EXPECT_THAT(Model(host, bytes, OnGpu()).loaded().message, HasSubstr("two outputs called")); });
}

// Two embedders in one program: the device is the process's.
TEST(OnnxWebGpu, TakesTurnsWithACopyOfTheBackend) {
  const testing::TestFolder folder;
  const std::filesystem::path file = testing::BackendFile(kFramework);
  const Host host, others("{}", 1, folder.Write(file.filename().string(), ReadFile(file.string())));
  ASSERT_TRUE(others.opened()) << others.opened().message;
  ComputeBeside(host, 300, [&] {
    const Model model(others, Product(16), OnGpu());
    Context context(model);
    ASSERT_TRUE(context.Set(0, Numbers(16, 0)));
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(context.Compute());
  });
}

}  // namespace
}  // namespace wasinn::test
