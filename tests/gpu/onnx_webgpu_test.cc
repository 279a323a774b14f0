// ONNX Runtime on a device with memory of its own: WebGPU, whose Vulkan driver is one that computes on the CPU.
#include <gmock/gmock.h>

#include "backends/onnx_contract.h"
#include "backends/test_host.h"

namespace wasinn::test {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using ::testing::StrEq;

LoadOptions OnGpu() {
  LoadOptions options;
  options.target = WASINN_GPU;
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
  for (const wasinn_target target : {WASINN_GPU, WASINN_AUTO}) {
    LoadOptions options;
    options.target = target;
    const Model model(host, ModelBytes("relu.onnx"), options);
    ASSERT_TRUE(model.loaded()) << model.loaded().message;
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
  EXPECT_EQ(refused.code, WASINN_INVALID_ARGUMENT);
  EXPECT_THAT(refused.message, HasSubstr("lies in the memory of webgpu:0, where this model does not compute"));
}

}  // namespace
}  // namespace wasinn::test
