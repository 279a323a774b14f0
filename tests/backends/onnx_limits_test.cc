// Limits on the memory of computes and loads.
#include <sys/mman.h>

#include "backends/expect.h"
#include "backends/onnx_writer.h"
#include "common/dtype.h"
#include "support/own_process.h"

namespace wasinn::test {
namespace {

constexpr int64_t kGibi = 1 << 30;

// Fails if more was touched than a little.
class TouchesLittle {
 public:
  ~TouchesLittle() { EXPECT_LT(memory_.grown(), 256 * kMebi); }

 private:
  const testing::PeakMemory memory_;
};

void ExpectTooLarge(const LoadedModel& model, const Tensor& input) {
  Context context(model, 64 * kMebi);
  ASSERT_TRUE(context.Set(0, input));
  for (int i = 0; i < 3; ++i) {
    const Result computed = context.Compute();
    EXPECT_EQ(computed.code, WASINN_ERROR_TOO_LARGE) << computed.message;
    EXPECT_THAT(computed.message, HasSubstr("67108864"));
  }
}

void ExpectHonestModelWorks(const Host& host, uint64_t max_bytes = 64 * kMebi) {
  const Model model(host, ModelBytes("relu.onnx"));
  Context context(model, max_bytes);
  const Tensor out = Compute(&context, {Floats({1, 3, 224, 224}, std::vector<float>(150528, -1))});
  EXPECT_EQ(out.As<float>()[150527], 0);
}

TEST(OnnxLimits, RefuseHugeOutputsAndValuesInside) {
  const TouchesLittle little;
  const Host host;
  ExpectTooLarge({host, ModelBytes("huge_output.onnx")},
                 MakeTensor<int64_t>(WASINN_DTYPE_I64, {3}, {1024, 1024, 1024}));
  ExpectTooLarge({host, ModelBytes("huge_intermediate.onnx")}, Floats({1}, {1}));
  ExpectHonestModelWorks(host);
}

TEST(OnnxLimits, RefuseHugeOutputsOfAFixedShape) {
  const TouchesLittle little;
  const Host host;
  const LoadedModel model(host, ModelBytes("huge_static.onnx"));
  const wasinn_io& io = model.output(0);
  const size_t bytes = backend::TensorBytes({io.dims, static_cast<size_t>(io.rank)}, backend::ElementSize(io.dtype));
  // Mapped, so that no sanitizer marks untouched bytes.
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
      wasinn_compute_result reported = {.struct_size = sizeof(reported)};
      const Result computed = TakeError(host.table().compute(context.get(), &all, &reported));
      EXPECT_EQ(computed.code, WASINN_ERROR_TOO_LARGE) << computed.message;
      EXPECT_THAT(computed.message, HasSubstr("67108864"));
    }
  }
  ::munmap(pages, bytes);
  ExpectHonestModelWorks(host);
}

TEST(OnnxLimits, SaysHowMuchWasWanted) {
  const Host host;
  const Model model(host, ModelBytes("huge_output.onnx"));
  Context context(model, 1000);
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_DTYPE_I64, {2}, {100, 10})));
  const Result computed = context.Compute();
  EXPECT_EQ(computed.code, WASINN_ERROR_TOO_LARGE);
  EXPECT_THAT(computed.message, AllOf(HasSubstr("4000 bytes"), HasSubstr("1000 are allowed")));
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_DTYPE_I64, {2}, {10, 10})));
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
  const LoadedModel model(host, ModelOf(graph));
  Context context(model, 16 * kMebi);
  ASSERT_TRUE(context.Set(0, Floats({1 << 20}, std::vector<float>(1 << 20))));  // 4 MiB
  for (int i = 0; i < 5; ++i) MustCompute(&context);
}

LoadOptions Limited(uint64_t max_bytes) {
  LoadOptions options;
  options.max_bytes = max_bytes;
  return options;
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
  const LoadedModel model(host, ModelOf(graph), options);
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

// A run can use the memory of the last one, even if that memory is kept.
TEST(OnnxLimits, AreTheSameWithAndWithoutTheCache) {
  for (const char* config : {"{\"cache_bytes\": 0}", "{\"cache_bytes\": 1048576}", "{}"}) {
    const Host host(config);
    const Model model(host, ModelBytes("huge_output.onnx"));
    Context context(model, 8 * kMebi);
    for (const int64_t side : {1024, 1200, 1024, 500, 1300, 1024, 1}) {
      ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_DTYPE_I64, {2}, {side, side})));
      MustCompute(&context);
      const wasinn_tensor view = context.View(0);
      EXPECT_EQ(view.bytes, static_cast<size_t>(side * side) * 4);
      EXPECT_EQ(static_cast<const float*>(view.data)[side * side - 1], 1);
    }
  }
}

}  // namespace
}  // namespace wasinn::test
