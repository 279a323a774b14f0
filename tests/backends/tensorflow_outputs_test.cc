// The owners of outputs' memory: TensorFlow's own tensors if nothing else has them, or copies.
#include <malloc.h>

#include "backends/expect.h"
#include "backends/tensorflow_writer.h"

namespace wasinn::test {
namespace {

// Small enough that malloc has no slack of pages behind it.
constexpr int64_t kElements = 1000;
const std::string kFloat = TypeAttribute("T", 1);

LoadOptions Wanting(const std::string& outputs) {
  return {.encoding = "tensorflow", .host_config = "{\"outputs\": " + outputs + "}"};
}

Tensor Filled(float value, int64_t n = kElements) {
  return Floats({n}, std::vector<float>(static_cast<size_t>(n), value));
}

std::string Relu(const std::string& name, const std::string& input) { return TfNode(name, "Relu", {input}, kFloat); }

// Copies have a tail behind their bytes, as memory of the host has. TensorFlow's tensors have none.
bool IsCopy(const wasinn_tensor& tensor) {
  return malloc_usable_size(tensor.data) >= tensor.bytes + WASINN_TENSOR_TAIL;
}

std::vector<float> ValuesOf(const wasinn_tensor& tensor) {
  const auto* values = static_cast<const float*>(tensor.data);
  return {values, values + tensor.bytes / sizeof(float)};
}

wasinn_tensor Take(Context* context, uint32_t index) {
  wasinn_tensor taken = {.struct_size = sizeof(taken)};
  const Result result = context->Take(index, &taken);
  EXPECT_TRUE(result) << result.message;
  EXPECT_NE(taken.release, nullptr);
  return taken;
}

TEST(TensorFlowOutputs, OfTheirOwnMemoryAreNotCopied) {
  const Host host;
  const LoadedModel model(host, TfGraph({Relu("y", "x")}), Wanting("[]"));
  wasinn_tensor first{}, second{};
  {
    Context context(model);
    Compute(&context, {Filled(1)});
    EXPECT_FALSE(IsCopy(context.View(0)));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(context.View(0).data) % WASINN_TENSOR_ALIGNMENT, 0u);
    first = Take(&context, 0);
    Compute(&context, {Filled(2)});
    second = Take(&context, 0);
    Compute(&context, {Filled(3)});
  }
  // They outlive the next computes, and the context.
  EXPECT_THAT(ValuesOf(first), Each(1));
  EXPECT_THAT(ValuesOf(second), Each(2));
  first.release(first.owner);
  second.release(second.owner);
}

// Without a copy and without a tail, as the core gives it to another context of this backend.
TEST(TensorFlowOutputs, AreInputsOfOtherContexts) {
  const Host host;
  const LoadedModel model(host, TfGraph({Relu("y", "x")}), Wanting("[]"));
  for (const int64_t n : {1, 7, 1000, 1003}) {
    Context context(model), next(model);
    Compute(&context, {Filled(4, n)});
    wasinn_tensor taken = Take(&context, 0);
    const int64_t dims[] = {n};
    taken.dims = dims;
    ASSERT_TRUE(next.Bind(0, taken));
    MustCompute(&next);
    EXPECT_THAT(MustGet(&next, 0).As<float>(), Each(4)) << n;
    EXPECT_THAT(ValuesOf(taken), Each(4)) << n;
    next.Unbind(0);
    taken.release(taken.owner);
  }
}

TEST(TensorFlowOutputs, ThatAreConstantsAreCopied) {
  const Host host;
  const std::string constant = TfNode(
      "c", "Const", {}, TypeAttribute("dtype", 1) + Attribute("value", BytesField(8, FilledTensor({kElements}))));
  const LoadedModel model(host, TfGraph({constant, TfNode("i", "Identity", {"c"}, kFloat), Relu("y", "x")}),
                          Wanting(R"(["c", "i", "y"])"));
  for (int i = 0; i < 2; ++i) {
    Context context(model);
    Compute(&context, {Filled(5)});
    for (const uint32_t index : {0, 1}) {
      EXPECT_TRUE(IsCopy(context.View(index)));
      const wasinn_tensor taken = Take(&context, index);
      EXPECT_THAT(ValuesOf(taken), Each(1));
      std::fill_n(static_cast<char*>(taken.data), taken.bytes, '\0');  // it is ours: the next context sees the constant
      taken.release(taken.owner);
    }
    EXPECT_FALSE(IsCopy(context.View(2)));
  }
}

TEST(TensorFlowOutputs, ThatAreInputsAreCopied) {
  auto&& [host, model, context] = Opened(TfGraph({TfNode("y", "Identity", {"x"}, kFloat)}), Wanting(R"(["x", "y"])"));
  Compute(&context, {Filled(6)});
  ASSERT_TRUE(context.Set(0, Filled(7)));
  for (const uint32_t index : {0, 1}) {
    EXPECT_TRUE(IsCopy(context.View(index)));
    EXPECT_THAT(MustGet(&context, index).As<float>(), Each(6));
  }
}

// The last one that has the buffer keeps it.
TEST(TensorFlowOutputs, OfOneBufferAreSeveral) {
  const Host host;
  const std::string shape = TfNode("shape", "Shape", {"x"}, kFloat + TypeAttribute("out_type", 3));
  const LoadedModel model(host,
                          TfGraph({Relu("a", "x"), TfNode("b", "Identity", {"a"}, kFloat), shape,
                                   TfNode("c", "Reshape", {"a", "shape"}, kFloat + TypeAttribute("Tshape", 3))}),
                          Wanting(R"(["a", "a:0", "b", "c"])"));
  Context context(model);
  std::vector<wasinn_tensor> all;
  for (const float value : {8, 9}) {
    Compute(&context, {Filled(value)});
    for (uint32_t i = 0; i < 4; ++i) all.push_back(Take(&context, i));
  }
  EXPECT_EQ(std::ranges::count_if(all, IsCopy), 6);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_THAT(ValuesOf(all[i]), Each(i < 4 ? 8 : 9)) << i;
    std::fill_n(static_cast<char*>(all[i].data), all[i].bytes, '\0');
  }
  for (const wasinn_tensor& tensor : all) tensor.release(tensor.owner);
}

// They would keep all of the larger buffer.
TEST(TensorFlowOutputs, ThatMayBePartsOfMoreAreCopied) {
  constexpr uint64_t kPart = 8 << 20;
  constexpr int64_t kPartElements = kPart / sizeof(float);
  const Host host;
  const std::string zero = NumberField(1, 3) + BytesField(2, "") + BytesField(4, std::string(4, '\0'));
  const std::string axis =
      TfNode("axis", "Const", {}, TypeAttribute("dtype", 3) + Attribute("value", BytesField(8, zero)));
  const std::string split = TfNode("s", "Split", {"axis", "a"}, kFloat + Attribute("num_split", NumberField(3, 2)));
  const LoadedModel model(host, TfGraph({Relu("a", "x"), axis, split, TfNode("y", "Neg", {"s:1"}, kFloat)}),
                          Wanting(R"(["s", "y"])"));
  Context context(model);
  Compute(&context, {Floats({2, kPartElements}, std::vector<float>(2 * kPartElements, 10))});
  context.DiscardOutputs();
  const uint64_t before = AllocatedBytes();
  for (const uint32_t index : {0, 1}) {
    ASSERT_TRUE(context.Compute({index}));
    EXPECT_LT(AllocatedBytes(), before + kPart + kPart / 2) << index;
    const wasinn_tensor taken = Take(&context, index);
    EXPECT_THAT(ValuesOf(taken), Each(index == 0 ? 10 : -10));
    EXPECT_LT(AllocatedBytes(), before + kPart + kPart / 2) << index;
    taken.release(taken.owner);
  }
}

// A context has one at a time, and none that is not charged.
TEST(TensorFlowOutputs, GoWithTheNextComputeAndWhenDiscarded) {
  constexpr uint64_t kMiB = 1 << 20;
  const Host host;
  const LoadedModel model(host, TfGraph({Relu("y", "x")}), Wanting("[]"));
  Context context(model, 9 * kMiB);
  Compute(&context, {Filled(1, 2 * kMiB)});
  context.DiscardOutputs();
  const uint64_t without = AllocatedBytes();
  for (int i = 0; i < 3; ++i) {
    MustCompute(&context);
    EXPECT_GE(AllocatedBytes(), without + 8 * kMiB);
    EXPECT_LT(AllocatedBytes(), without + 9 * kMiB);
  }
  context.DiscardOutputs();
  EXPECT_LT(AllocatedBytes(), without + kMiB);
  MustCompute(&context);
  ASSERT_TRUE(context.Set(0, Filled(1, 3 * kMiB)));  // 4 MiB more
  EXPECT_EQ(context.Compute().code, WASINN_ERROR_TOO_LARGE);
  EXPECT_LT(AllocatedBytes(), without + 5 * kMiB);
  Compute(&context, {Filled(1, 2 * kMiB)});
  const wasinn_tensor taken = Take(&context, 0);
  EXPECT_GE(AllocatedBytes(), without + 8 * kMiB);
  taken.release(taken.owner);
  EXPECT_LT(AllocatedBytes(), without + kMiB);
}

// An output is copied in one compute and not in the next, where others that share its buffer are not wanted.
TEST(TensorFlowOutputs, AreHeldOnce) {
  constexpr uint64_t kBytes = 8 << 20;
  auto&& [host, model, context] =
      Opened(TfGraph({Relu("a", "x"), TfNode("b", "Identity", {"a"}, kFloat)}), Wanting(R"(["a", "b"])"));
  Compute(&context, {Filled(1, kBytes / sizeof(float))});
  context.DiscardOutputs();
  const uint64_t without = AllocatedBytes();
  for (const std::vector<uint32_t>& wanted : {std::vector<uint32_t>{0, 1}, {0}, {0, 1}, {1}}) {
    ASSERT_TRUE(context.Compute(wanted));
    EXPECT_GE(AllocatedBytes(), without + wanted.size() * kBytes);
    EXPECT_LT(AllocatedBytes(), without + wanted.size() * kBytes + kBytes / 2);
  }
}

}  // namespace
}  // namespace wasinn::test
