// Limits on the memory of computes and loads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <memory>

#include "backends/onnx_writer.h"
#include "backends/test_host.h"
#include "common/dtype.h"

namespace wasinn::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kGibi = 1 << 30;

// The most memory that this OS process has had resident so far.
uint64_t PeakBytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

// Fails if more was touched than a little.
class TouchesLittle {
 public:
  ~TouchesLittle() { EXPECT_LT(PeakBytes() - before_, 256 * kMebi); }

 private:
  const uint64_t before_ = PeakBytes();
};

void ExpectTooLarge(const Model& model, const Tensor& input) {
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model, 64 * kMebi);
  ASSERT_TRUE(context.Set(0, input));
  for (int i = 0; i < 3; ++i) {
    const Result computed = context.Compute();
    EXPECT_EQ(computed.code, WASINN_TOO_LARGE) << computed.message;
    EXPECT_THAT(computed.message, HasSubstr("67108864"));
  }
}

void ExpectHonestModelWorks(const Host& host, uint64_t max_bytes = 64 * kMebi) {
  const Model model(host, ModelBytes("relu.onnx"));
  Context context(model, max_bytes);
  ASSERT_TRUE(context.Set(0, Floats({1, 3, 224, 224}, std::vector<float>(150528, -1))));
  const Result computed = context.Compute();
  ASSERT_TRUE(computed) << computed.message;
  EXPECT_EQ(static_cast<const float*>(context.View(0).data)[150527], 0);
}

TEST(OnnxLimits, RefuseHugeOutputs) {
  const TouchesLittle little;
  const Host host;
  ExpectTooLarge(Model(host, ModelBytes("huge_output.onnx")), MakeTensor<int64_t>(WASINN_I64, {3}, {1024, 1024, 1024}));
  ExpectHonestModelWorks(host);
}

TEST(OnnxLimits, RefuseHugeOutputsOfAFixedShape) {
  const TouchesLittle little;
  const Host host;
  const Model model(host, ModelBytes("huge_static.onnx"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  const wasinn_io& io = model.output(0);
  const size_t bytes = backend::TensorBytes({io.dims, static_cast<size_t>(io.rank)}, backend::ElementSize(io.dtype));
  // Mapped, so that no sanitizer marks what nobody touches.
  void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  {
    Context context(model, 64 * kMebi);
    ASSERT_TRUE(context.Set(0, Floats({1, 1}, {1})));
    const wasinn_tensor output = {.struct_size = sizeof(output),
                                  .dtype = io.dtype,
                                  .rank = static_cast<uint32_t>(io.rank),
                                  .dims = io.dims,
                                  .data = pages,
                                  .bytes = bytes};
    ASSERT_TRUE(TakeError(host.table().bind_output(context.get(), 0, &output)));
    const wasinn_compute_options all = {.struct_size = sizeof(all), .n_wanted = 0, .wanted = nullptr};
    for (int i = 0; i < 3; ++i) {
      wasinn_compute_result told = {.struct_size = sizeof(told)};
      const Result computed = TakeError(host.table().compute(context.get(), &all, &told));
      EXPECT_EQ(computed.code, WASINN_TOO_LARGE) << computed.message;
      EXPECT_THAT(computed.message, HasSubstr("67108864"));
    }
  }
  ::munmap(pages, bytes);
  ExpectHonestModelWorks(host);
}

TEST(OnnxLimits, RefuseHugeValuesInside) {
  const TouchesLittle little;
  const Host host;
  ExpectTooLarge(Model(host, ModelBytes("huge_intermediate.onnx")), Floats({1}, {1}));
  ExpectHonestModelWorks(host);
}

TEST(OnnxLimits, SaysHowMuchWasWanted) {
  const Host host;
  const Model model(host, ModelBytes("huge_output.onnx"));
  Context context(model, 1000);
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_I64, {2}, {100, 10})));
  const Result computed = context.Compute();
  EXPECT_EQ(computed.code, WASINN_TOO_LARGE);
  EXPECT_THAT(computed.message, AllOf(HasSubstr("4000 bytes"), HasSubstr("1000 are allowed")));
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_I64, {2}, {10, 10})));
  EXPECT_TRUE(context.Compute()) << "the same context, within its limit";
}

// Values that are freed on the way are not counted twice, in one run and over many.
TEST(OnnxLimits, CountsWhatLivesAtOnce) {
  const Host host;
  Graph graph = {.inputs = {Value("x", kFloat, {kUnknown})}, .outputs = {Value("y", kFloat, {kUnknown})}};
  std::string last = "x";
  for (int i = 0; i < 50; ++i) {
    const std::string next = "v" + std::to_string(i);
    graph.nodes.push_back(Node(i % 2 == 0 ? "Erf" : "Tanh", {last}, {next}));
    last = next;
  }
  graph.nodes.push_back(Node("Identity", {last}, {"y"}));
  const Model model(host, ModelOf(graph));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model, 16 * kMebi);
  ASSERT_TRUE(context.Set(0, Floats({1 << 20}, std::vector<float>(1 << 20))));  // 4 MiB
  for (int i = 0; i < 5; ++i) {
    const Result computed = context.Compute();
    ASSERT_TRUE(computed) << computed.message;
  }
}

std::string Foldable(int64_t elements, int times, const char* op, uint64_t opset = 17) {
  Graph graph = {.constants = {Constant<int64_t>("shape", kInt64, {1}, {elements})},
                 .inputs = {Value("x", kFloat, {1})},
                 .outputs = {Value("y", kFloat, {})}};
  std::string last = "x";
  for (int i = 0; i < times; ++i) {
    const std::string n = std::to_string(i);
    graph.nodes.push_back(Node("ConstantOfShape", {"shape"}, {"c" + n}));
    graph.nodes.push_back(Node(op, {"c" + n}, {"e" + n}));
    graph.nodes.push_back(Node("Add", {last, "e" + n}, {"a" + n}));
    last = "a" + n;
  }
  graph.nodes.push_back(Node("ReduceMax", {last}, {"y"}).Add(5, Proto().Text(1, "keepdims").Int(3, 0).Int(20, 2)));
  return ModelOf(graph, opset);
}

LoadOptions Limited(uint64_t max_bytes) {
  LoadOptions options;
  options.max_bytes = max_bytes;
  return options;
}

TEST(OnnxLimits, LeaveSmallConstantsFolded) {
  const Host host;
  const Model model(host, Foldable(16, 3, "Relu"), Limited(64 * kMebi));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  // With all else folded, there is room for nothing but the last sum.
  Context context(model, 16 * sizeof(float) * 4);
  ASSERT_TRUE(context.Set(0, Floats({1}, {5})));
  const Result computed = context.Compute();
  ASSERT_TRUE(computed) << computed.message;
}

// Copies of weights are no more than what the model's own bytes were charged for.
TEST(OnnxLimits, ChargeNothingForWeights) {
  const Host host;
  const Graph graph = {.nodes = {Node("MatMul", {"x", "w"}, {"y"})},
                       .constants = {Constant<float>("w", kFloat, {1024, 1024}, std::vector<float>(1 << 20, 1))},
                       .inputs = {Value("x", kFloat, {1, 1024})},
                       .outputs = {Value("y", kFloat, {1, 1024})}};
  Account account = {.limit = 0};
  LoadOptions options = Limited(64 * kMebi);
  options.account = &account;
  const Model model(host, ModelOf(graph), options);
  EXPECT_TRUE(model.loaded()) << model.loaded().message;
}

// Weights that are declared larger than the file that they should be in.
TEST(OnnxLimits, RefuseHugeWeightsWithoutBytes) {
  const TouchesLittle little;
  const Host host;
  for (const int64_t size : {kGibi, int64_t{1} << 40, INT64_MAX}) {
    const Graph graph = {.nodes = {Node("Add", {"x", "w"}, {"y"})},
                         .constants = {Proto().Int(1, static_cast<uint64_t>(size)).Int(2, kFloat).Text(8, "w")},
                         .inputs = {Value("x", kFloat, {1})},
                         .outputs = {Value("y", kFloat, {kUnknown})}};
    const Model model(host, ModelOf(graph), Limited(64 * kMebi));
    EXPECT_FALSE(model.loaded()) << size;
  }
  ExpectHonestModelWorks(host);
}

TEST(OnnxLimits, DoNotExistUnlessTheyAreAskedFor) {
  const Host host;
  ExpectHonestModelWorks(host, 0);
}

// A run may take what the last one gave back, also where it is kept.
TEST(OnnxLimits, AreTheSameWithAndWithoutTheCache) {
  for (const char* config : {"{\"cache_bytes\": 0}", "{\"cache_bytes\": 1048576}", "{}"}) {
    const Host host(config);
    const Model model(host, ModelBytes("huge_output.onnx"));
    Context context(model, 8 * kMebi);
    for (const int64_t side : {1024, 1200, 1024, 500, 1300, 1024, 1}) {
      ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_I64, {2}, {side, side})));
      const Result computed = context.Compute();
      ASSERT_TRUE(computed) << computed.message;
      const wasinn_tensor view = context.View(0);
      EXPECT_EQ(view.bytes, static_cast<size_t>(side * side) * 4);
      EXPECT_EQ(static_cast<const float*>(view.data)[side * side - 1], 1);
    }
  }
}

}  // namespace
}  // namespace wasinn::test
