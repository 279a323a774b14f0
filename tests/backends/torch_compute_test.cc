// Computing with the PyTorch backend: element types, shapes, several inputs and outputs, memory, threads.
#include "backends/expect.h"
#include "backends/torch_models.h"

namespace wasinn::test {
namespace {

// The outputs of the last compute of a model with an unknown number of outputs.
std::vector<std::string> OutputNames(const Model& model, Context& context) {
  const wasinn_io* const* ios = nullptr;
  uint32_t n = 0;
  const Result reported = TakeError(model.host().table().outputs(context.get(), &ios, &n));
  EXPECT_TRUE(reported) << reported.message;
  std::vector<std::string> names;
  for (uint32_t i = 0; i < n; ++i) names.emplace_back(ios[i]->name);
  return names;
}

// PyTorch optimizes in the second run.
TEST(TorchCompute, GivesTheSameWhenItIsOptimized) {
  auto&& [host, model, context] =
      Opened(TorchModel("def forward(self, x, y):\n    return torch.matmul(x, y) + self.b, torch.relu(x)\n",
                        {{"b", Floats({2}, {0.5, -1})}}),
             TorchOptions());
  for (int i = 0; i < 4; ++i) {
    const Tensor product = Compute(&context, {Floats({1, 3}, {1, -2, 4}), Floats({3, 2}, {1, 2, 3, 4, 5, 6})});
    EXPECT_THAT(product.As<float>(), ElementsAre(15.5, 17));
    EXPECT_THAT(product.dims, ElementsAre(1, 2));
    EXPECT_THAT(MustGet(&context, 1).As<float>(), ElementsAre(1, 0, 4));
  }
}

TEST(TorchCompute, ReportsItsSignature) {
  const std::string bytes = TorchModel(
      "def forward(self, image, mask: Optional[Tensor], count: int, scale: float = 2.0, deep: bool = False, "
      "words: Optional[str] = None) -> Tuple[Tensor, Tuple[Tensor, int]]:\n    return image, (image * scale, count)\n");
  const Host host;
  const LoadedModel model(host, bytes, TorchOptions());
  ASSERT_EQ(model.info().n_inputs, 6u);
  EXPECT_STREQ(model.input(0).name, "image");
  EXPECT_EQ(model.input(0).dtype, WASINN_DTYPE_UNKNOWN);
  EXPECT_EQ(model.input(0).rank, -1);
  EXPECT_EQ(model.input(0).flags, 0u);
  EXPECT_EQ(model.input(1).flags, WASINN_IO_OPTIONAL);
  EXPECT_EQ(model.input(2).dtype, WASINN_DTYPE_I64);
  EXPECT_EQ(model.input(2).rank, 0);
  EXPECT_EQ(model.input(3).dtype, WASINN_DTYPE_F64);
  EXPECT_EQ(model.input(3).flags, WASINN_IO_OPTIONAL);
  EXPECT_EQ(model.input(4).dtype, WASINN_DTYPE_BOOL);
  EXPECT_EQ(model.input(5).flags, WASINN_IO_OPTIONAL | WASINN_IO_UNSERVABLE);
  ASSERT_EQ(model.info().n_outputs, 3u);
  EXPECT_STREQ(model.output(0).name, "0");
  EXPECT_STREQ(model.output(1).name, "1.0");
  EXPECT_STREQ(model.output(2).name, "1.1");
  EXPECT_EQ(model.output(2).dtype, WASINN_DTYPE_I64);

  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({2}, {1, 2})));
  EXPECT_EQ(context.Compute().code, WASINN_ERROR_INVALID_ARGUMENT);  // count was not set
  ASSERT_TRUE(context.Set(2, MakeTensor<int64_t>(WASINN_DTYPE_I64, {}, {7})));
  EXPECT_EQ(context.Set(5, MakeTensor<uint8_t>(WASINN_DTYPE_U8, {1}, {7})).code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_EQ(context.Set(2, MakeTensor<int64_t>(WASINN_DTYPE_I64, {2}, {7, 8})).code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(context.Compute().code, WASINN_ERROR_INVALID_ARGUMENT);  // it is unset
  ASSERT_TRUE(context.Set(2, MakeTensor<int64_t>(WASINN_DTYPE_I64, {}, {7})));
  EXPECT_EQ(context.Set(6, Floats({1}, {1})).code, WASINN_ERROR_INVALID_ARGUMENT);
  ASSERT_TRUE(context.Compute());
  Tensor out = MustGet(&context, 1);
  EXPECT_THAT(out.As<float>(), ElementsAre(2, 4));
  ASSERT_TRUE(context.Get(2, &out));
  EXPECT_THAT(out.As<int64_t>(), ElementsAre(7));
  EXPECT_TRUE(out.dims.empty());
  ASSERT_TRUE(context.Set(3, MakeTensor<double>(WASINN_DTYPE_F64, {}, {10})));
  ASSERT_TRUE(context.Compute());
  ASSERT_TRUE(context.Get(1, &out));
  EXPECT_THAT(out.As<float>(), ElementsAre(10, 20));
}

class TorchElementTypes : public ::testing::TestWithParam<ElementType> {};

TEST_P(TorchElementTypes, GoInAndOutAsTheyAre) {
  const Host host;
  const Tensor in = EveryBit(GetParam());
  ExpectIdentity({host, TorchModel("def forward(self, x):\n    return x.clone()\n"), TorchOptions()}, in, in.dims);
}

INSTANTIATE_TEST_SUITE_P(All, TorchElementTypes, ::testing::ValuesIn(kElementTypes),
                         [](const auto& type) { return std::string(type.param.name); });

TEST(TorchCompute, TakesScalarsEmptyAndChangingShapes) {
  auto&& [host, model, context] = Opened(TorchModel("def forward(self, x):\n    return x + 1\n"), TorchOptions());
  EXPECT_TRUE(Compute(&context, {Floats({}, {4})}).dims.empty());
  EXPECT_EQ(Compute(&context, {Floats({0, 3}, {})}).dims, (std::vector<int64_t>{0, 3}));
  EXPECT_THAT(Compute(&context, {Floats({1, 3}, {1, 2, 3})}).As<float>(), ElementsAre(2, 3, 4));
  EXPECT_THAT(Compute(&context, {MakeTensor<int32_t>(WASINN_DTYPE_I32, {1}, {5})}).As<int32_t>(), ElementsAre(6));
}

TEST(TorchCompute, FlattensOutputsThatAreOnlyKnownAfterARun) {
  const Host host;
  const LoadedModel model(
      host,
      TorchModel("def forward(self, x) -> Dict[str, List[Tensor]]:\n"
                 "    d: Dict[str, List[Tensor]] = {}\n    d['z'] = [x, x * 2]\n    d['a'] = [x * 3]\n"
                 "    return d\n"),
      TorchOptions());
  EXPECT_EQ(model.info().n_outputs, WASINN_COUNT_UNKNOWN);
  Context context(model);
  Compute(&context, {Floats({1}, {5})});
  EXPECT_THAT(MustGet(&context, 2).As<float>(), ElementsAre(15));
  EXPECT_THAT(OutputNames(model, context), ElementsAre("z.0", "z.1", "a.0"));
  Tensor none;
  EXPECT_EQ(context.Get(3, &none).code, WASINN_ERROR_INVALID_ARGUMENT);
}

TEST(TorchCompute, ShowsListsOfNumbersAndNamesWhatItCannotShow) {
  auto&& [host, model, context] = Opened(TorchModel("def forward(self, x) -> Tuple[List[int], str, Optional[Tensor]]:\n"
                                                    "    return x.size(), 'text', None\n"),
                                         TorchOptions());
  EXPECT_THAT(Compute(&context, {Floats({2, 1}, {5, 6})}).As<int64_t>(), ElementsAre(2, 1));
  EXPECT_THAT(OutputNames(model, context), ElementsAre("0", "1"));
  Tensor text;
  const Result got = context.Get(1, &text);
  EXPECT_EQ(got.code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_THAT(got.message, HasSubstr("String"));
}

// It writes to its input, and gives it out: an input that is set once stays as it was.
TEST(TorchCompute, KeepsInputsThatTheModelWritesTo) {
  auto&& [host, model, context] =
      Opened(TorchModel("def forward(self, x, y):\n    x.add_(y)\n    return x, y\n"), TorchOptions());
  ASSERT_TRUE(context.Set(0, Floats({2}, {1, 2})));
  ASSERT_TRUE(context.Set(1, Floats({2}, {10, 10})));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Compute(&context, {}).As<float>(), ElementsAre(11, 12));
}

TEST(TorchCompute, SaysWhatTheModelFailedAt) {
  auto&& [host, model, context] =
      Opened(TorchModel("def forward(self, x):\n    assert int(x.size(0)) <= 2, 'too many'\n"
                        "    return torch.matmul(x, torch.ones(7, 7))\n"),
             TorchOptions());
  ASSERT_TRUE(context.Set(0, Floats({3}, {1, 2, 3})));
  Result computed = context.Compute();
  EXPECT_EQ(computed.code, WASINN_ERROR_RUNTIME);
  EXPECT_THAT(computed.message, HasSubstr("too many"));
  Tensor none;
  EXPECT_EQ(context.Get(0, &none).code, WASINN_ERROR_INVALID_ARGUMENT);
  ASSERT_TRUE(context.Set(0, Floats({1, 2}, {1, 2})));
  computed = context.Compute();
  EXPECT_EQ(computed.code, WASINN_ERROR_RUNTIME);
  EXPECT_THAT(computed.message, HasSubstr("1x2 and 7x7"));
  ASSERT_TRUE(context.Set(0, Floats({1, 7}, std::vector<float>(7, 1))));
  EXPECT_TRUE(context.Compute());
}

TEST(TorchCompute, PrintsAndWarnsToTheLog) {
  auto&& [host, model, context] = Opened(
      TorchModel("def forward(self, x):\n    print('hello from the model')\n    return x * 1\n"), TorchOptions());
  ::testing::internal::CaptureStdout();
  Compute(&context, {Floats({1}, {1})});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_THAT(host.log(), HasSubstr("info: torch: hello from the model"));
}

}  // namespace
}  // namespace wasinn::test
