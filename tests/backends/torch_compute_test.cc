// Computing with the PyTorch backend: element types, shapes, several inputs and outputs, memory, threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/expect.h"
#include "backends/torch_models.h"

namespace wasinn::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor Compute(Context& context, const std::vector<Tensor>& inputs, uint32_t output = 0) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Result set = context.Set(static_cast<uint32_t>(i), inputs[i]);
    EXPECT_TRUE(set) << set.message;
  }
  const Result computed = context.Compute();
  EXPECT_TRUE(computed) << computed.message;
  Tensor tensor;
  const Result got = context.Get(output, &tensor);
  EXPECT_TRUE(got) << got.message;
  return tensor;
}

// The outputs of the last compute, as a model of an unknown number of them tells.
std::vector<std::string> OutputNames(const Model& model, Context& context) {
  const wasinn_io* const* ios = nullptr;
  uint32_t n = 0;
  const Result told = TakeError(model.host().table().outputs(context.get(), &ios, &n));
  EXPECT_TRUE(told) << told.message;
  std::vector<std::string> names;
  for (uint32_t i = 0; i < n; ++i) names.emplace_back(ios[i]->name);
  return names;
}

TEST(TorchCompute, GivesTheNativeBytes) {
  const std::string bytes =
      TorchModel("def forward(self, x, y):\n    return torch.softmax(torch.matmul(x, y) + self.b, -1), torch.tanh(x)\n",
                 {{"b", Floats({4}, {0.5, -1, 2, 0.25})}});
  const Host host;
  ASSERT_TRUE(host.opened()) << host.opened().message;
  const Model model(host, bytes, TorchOptions());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  NativeTorch native(bytes);
  Context context(model);
  const std::vector<Tensor> inputs = {Floats({2, 3}, {1, -2, 3.5, 0.1f, 7, 9}),
                                      Floats({3, 4}, std::vector<float>(12, 0.3f))};
  // Optimisation comes with the second run.
  for (int i = 0; i < 4; ++i) {
    const auto expected = native.Run(inputs);
    EXPECT_EQ(Compute(context, inputs).bytes, expected[0].bytes);
    Tensor second;
    ASSERT_TRUE(context.Get(1, &second));
    EXPECT_EQ(second.bytes, expected[1].bytes);
    EXPECT_EQ(second.dims, expected[1].dims);
  }
}

TEST(TorchCompute, TellsItsSignature) {
  const std::string bytes = TorchModel(
      "def forward(self, image, mask: Optional[Tensor], count: int, scale: float = 2.0, deep: bool = False, "
      "words: Optional[str] = None) -> Tuple[Tensor, Tuple[Tensor, int]]:\n    return image, (image * scale, count)\n");
  const Host host;
  const Model model(host, bytes, TorchOptions());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  ASSERT_EQ(model.info().n_inputs, 6u);
  EXPECT_STREQ(model.input(0).name, "image");
  EXPECT_EQ(model.input(0).dtype, WASINN_DTYPE_UNKNOWN);
  EXPECT_EQ(model.input(0).rank, -1);
  EXPECT_EQ(model.input(0).flags, 0u);
  EXPECT_EQ(model.input(1).flags, WASINN_IO_OPTIONAL);
  EXPECT_EQ(model.input(2).dtype, WASINN_I64);
  EXPECT_EQ(model.input(2).rank, 0);
  EXPECT_EQ(model.input(3).dtype, WASINN_F64);
  EXPECT_EQ(model.input(3).flags, WASINN_IO_OPTIONAL);
  EXPECT_EQ(model.input(4).dtype, WASINN_BOOL);
  EXPECT_EQ(model.input(5).flags, WASINN_IO_OPTIONAL | WASINN_IO_UNSERVABLE);
  ASSERT_EQ(model.info().n_outputs, 3u);
  EXPECT_STREQ(model.output(0).name, "0");
  EXPECT_STREQ(model.output(1).name, "1.0");
  EXPECT_STREQ(model.output(2).name, "1.1");
  EXPECT_EQ(model.output(2).dtype, WASINN_I64);

  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({2}, {1, 2})));
  EXPECT_EQ(context.Compute().code, WASINN_INVALID_ARGUMENT);  // count was not set
  ASSERT_TRUE(context.Set(2, MakeTensor<int64_t>(WASINN_I64, {}, {7})));
  EXPECT_EQ(context.Set(5, MakeTensor<uint8_t>(WASINN_U8, {1}, {7})).code, WASINN_UNSUPPORTED_OPERATION);
  EXPECT_EQ(context.Set(2, MakeTensor<int64_t>(WASINN_I64, {2}, {7, 8})).code, WASINN_INVALID_ARGUMENT);
  EXPECT_EQ(context.Compute().code, WASINN_INVALID_ARGUMENT);  // it is unset
  ASSERT_TRUE(context.Set(2, MakeTensor<int64_t>(WASINN_I64, {}, {7})));
  EXPECT_EQ(context.Set(6, Floats({1}, {1})).code, WASINN_INVALID_ARGUMENT);
  ASSERT_TRUE(context.Compute());
  Tensor out;
  ASSERT_TRUE(context.Get(1, &out));
  EXPECT_THAT(out.As<float>(), ElementsAre(2, 4));
  ASSERT_TRUE(context.Get(2, &out));
  EXPECT_THAT(out.As<int64_t>(), ElementsAre(7));
  EXPECT_TRUE(out.dims.empty());
  ASSERT_TRUE(context.Set(3, MakeTensor<double>(WASINN_F64, {}, {10})));
  ASSERT_TRUE(context.Compute());
  ASSERT_TRUE(context.Get(1, &out));
  EXPECT_THAT(out.As<float>(), ElementsAre(10, 20));
}

class TorchDtypes : public ::testing::TestWithParam<std::pair<wasinn_dtype, size_t>> {};

TEST_P(TorchDtypes, PassesBits) {
  const auto [dtype, size] = GetParam();
  const Host host;
  const Model model(host, TorchModel("def forward(self, x):\n    return x[1:].clone()\n"), TorchOptions());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  Tensor in = {dtype, {3}, std::string(3 * size, '\0')};
  for (size_t i = 0; i < in.bytes.size(); ++i) in.bytes[i] = static_cast<char>(dtype == WASINN_BOOL ? i % 2 : 40 + i);
  const Tensor out = Compute(context, {in});
  EXPECT_EQ(out.dtype, dtype);
  EXPECT_EQ(out.dims, std::vector<int64_t>{2});
  EXPECT_EQ(out.bytes, in.bytes.substr(size));
}

INSTANTIATE_TEST_SUITE_P(All, TorchDtypes,
                         ::testing::Values(std::pair(WASINN_F16, 2), std::pair(WASINN_BF16, 2),
                                           std::pair(WASINN_F32, 4), std::pair(WASINN_F64, 8), std::pair(WASINN_U8, 1),
                                           std::pair(WASINN_I8, 1), std::pair(WASINN_U16, 2), std::pair(WASINN_I16, 2),
                                           std::pair(WASINN_U32, 4), std::pair(WASINN_I32, 4), std::pair(WASINN_U64, 8),
                                           std::pair(WASINN_I64, 8), std::pair(WASINN_BOOL, 1)));

TEST(TorchCompute, TakesScalarsEmptyAndChangingShapes) {
  const Host host;
  const Model model(host, TorchModel("def forward(self, x):\n    return x + 1\n"), TorchOptions());
  Context context(model);
  EXPECT_TRUE(Compute(context, {Floats({}, {4})}).dims.empty());
  EXPECT_EQ(Compute(context, {Floats({0, 3}, {})}).dims, (std::vector<int64_t>{0, 3}));
  EXPECT_THAT(Compute(context, {Floats({2}, {1, 2})}).As<float>(), ElementsAre(2, 3));
  EXPECT_THAT(Compute(context, {Floats({1, 3}, {1, 2, 3})}).As<float>(), ElementsAre(2, 3, 4));
  EXPECT_THAT(Compute(context, {MakeTensor<int32_t>(WASINN_I32, {1}, {5})}).As<int32_t>(), ElementsAre(6));
}

TEST(TorchCompute, FlattensWhatOnlyARunTells) {
  const Host host;
  const Model model(host,
                    TorchModel("def forward(self, x) -> Dict[str, List[Tensor]]:\n"
                               "    d: Dict[str, List[Tensor]] = {}\n    d['z'] = [x, x * 2]\n    d['a'] = [x * 3]\n"
                               "    return d\n"),
                    TorchOptions());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  EXPECT_EQ(model.info().n_outputs, WASINN_COUNT_UNKNOWN);
  Context context(model);
  EXPECT_THAT(Compute(context, {Floats({1}, {5})}, 2).As<float>(), ElementsAre(15));
  EXPECT_THAT(OutputNames(model, context), ElementsAre("z.0", "z.1", "a.0"));
  Tensor none;
  EXPECT_EQ(context.Get(3, &none).code, WASINN_INVALID_ARGUMENT);
}

TEST(TorchCompute, ShowsListsOfNumbersAndNamesWhatItCannotShow) {
  const Host host;
  const Model model(host,
                    TorchModel("def forward(self, x) -> Tuple[List[int], str, Optional[Tensor]]:\n"
                               "    return x.size(), 'text', None\n"),
                    TorchOptions());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  EXPECT_THAT(Compute(context, {Floats({2, 1}, {5, 6})}).As<int64_t>(), ElementsAre(2, 1));
  EXPECT_THAT(OutputNames(model, context), ElementsAre("0", "1"));
  Tensor text;
  const Result got = context.Get(1, &text);
  EXPECT_EQ(got.code, WASINN_UNSUPPORTED_OPERATION);
  EXPECT_THAT(got.message, HasSubstr("String"));
}

TEST(TorchCompute, SetsOnceAndComputesMany) {
  const Host host;
  // It writes to its input, and gives it out.
  const Model model(host, TorchModel("def forward(self, x, y):\n    x.add_(y)\n    return x, y\n"), TorchOptions());
  Context context(model);
  EXPECT_THAT(Compute(context, {Floats({2}, {1, 2}), Floats({2}, {10, 10})}).As<float>(), ElementsAre(11, 12));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(context.Compute());
    Tensor out;
    ASSERT_TRUE(context.Get(0, &out));
    EXPECT_THAT(out.As<float>(), ElementsAre(11, 12));
  }
  // What is shown stays when the input is set anew.
  const wasinn_tensor view = context.View(1);
  ASSERT_TRUE(context.Set(1, Floats({2}, {0, 0})));
  EXPECT_EQ(static_cast<const float*>(view.data)[1], 10);
}

TEST(TorchCompute, TakenOutputsOutliveTheContextAndCanBeBound) {
  const Host host;
  const Model model(host, TorchModel("def forward(self, x):\n    y = x * 2\n    return y, y[1:]\n"), TorchOptions());
  const wasinn_backend& table = host.table();
  wasinn_tensor taken[2] = {{.struct_size = sizeof(wasinn_tensor)}, {.struct_size = sizeof(wasinn_tensor)}};
  {
    Context context(model);
    Compute(context, {Floats({3}, {1, 2, 3})});
    for (uint32_t i = 0; i < 2; ++i) ASSERT_TRUE(TakeError(table.take_output(context.get(), i, &taken[i])));
    EXPECT_FALSE(TakeError(table.take_output(context.get(), 0, &taken[0])));
    Tensor gone;
    EXPECT_EQ(context.Get(0, &gone).code, WASINN_INVALID_ARGUMENT);
    Compute(context, {Floats({3}, {7, 7, 7})});
  }
  EXPECT_EQ(static_cast<float*>(taken[0].data)[2], 6);
  EXPECT_EQ(static_cast<float*>(taken[1].data)[0], 4);
  Context next(model);
  const int64_t dims[] = {3};
  wasinn_tensor bound = taken[0];
  bound.dims = dims;
  ASSERT_TRUE(TakeError(table.bind_input(next.get(), 0, &bound)));
  ASSERT_TRUE(next.Compute());
  EXPECT_EQ(static_cast<const float*>(next.View(0).data)[2], 12);
  table.unbind_input(next.get(), 0);
  EXPECT_EQ(next.Compute().code, WASINN_INVALID_ARGUMENT);
  for (wasinn_tensor& tensor : taken) tensor.release(tensor.owner);
}

TEST(TorchCompute, SaysWhatTheModelFailedAt) {
  const Host host;
  const Model model(host,
                    TorchModel("def forward(self, x):\n    assert int(x.size(0)) <= 2, 'too many'\n"
                               "    return torch.matmul(x, torch.ones(7, 7))\n"),
                    TorchOptions());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({3}, {1, 2, 3})));
  Result computed = context.Compute();
  EXPECT_EQ(computed.code, WASINN_RUNTIME_ERROR);
  EXPECT_THAT(computed.message, HasSubstr("too many"));
  Tensor none;
  EXPECT_EQ(context.Get(0, &none).code, WASINN_INVALID_ARGUMENT);
  ASSERT_TRUE(context.Set(0, Floats({1, 2}, {1, 2})));
  computed = context.Compute();
  EXPECT_EQ(computed.code, WASINN_RUNTIME_ERROR);
  EXPECT_THAT(computed.message, HasSubstr("1x2 and 7x7"));
  ASSERT_TRUE(context.Set(0, Floats({1, 7}, std::vector<float>(7, 1))));
  EXPECT_TRUE(context.Compute());
}

TEST(TorchCompute, PrintsAndWarnsToTheLog) {
  const Host host;
  const Model model(host, TorchModel("def forward(self, x):\n    print('hello from the model')\n    return x * 1\n"),
                    TorchOptions());
  Context context(model);
  ::testing::internal::CaptureStdout();
  Compute(context, {Floats({1}, {1})});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_THAT(host.log(), HasSubstr("info: torch: hello from the model"));
}

}  // namespace
}  // namespace wasinn::test
