// Cancelling, and limits of memory, with the PyTorch backend.
#include "backends/expect.h"
#include "backends/torch_models.h"

namespace wasinn::test {
namespace {

TEST(TorchCancel, StopsEndlessLoops) {
  const Host host;
  for (const char* body : {"    i = 0\n    while bool(x.sum() > 0):\n        i += 1\n    return x\n",
                           "    i = 0\n    while i >= 0:\n        i = i ^ 1\n    return x + i\n",
                           "    for i in range(9223372036854775807):\n        for j in range(9223372036854775807):\n"
                           "            x = x * 1\n    return x\n"}) {
    const LoadedModel model(host, TorchModel(std::string("def forward(self, x):\n") + body), TorchOptions());
    Context context(model);
    ASSERT_TRUE(context.Set(0, Floats({1}, {1})));
    ExpectCancellable(&context);
    if (std::string(body).contains("sum")) Compute(&context, {Floats({1}, {-1})});  // which ends, and is not cancelled
  }
}

TEST(TorchCancel, EndsALoad) {
  const Host host;
  int registered = 0;
  LoadOptions options = TorchOptions();
  options.token = &registered;
  options.on_cancel = [](void* count, void (*cancel)(void*), void* arg) {
    *static_cast<int*>(count) += cancel != nullptr ? 1 : -1;
    if (cancel != nullptr) cancel(arg);
  };
  // With a constant, for which it allocates.
  const std::string model = TorchModel("def forward(self, x):\n    return x + torch.ones([64])\n");
  EXPECT_EQ(Model(host, model, options).loaded().code, WASINN_ERROR_TIMEOUT);
  EXPECT_EQ(registered, 0) << "still registered";
}

TEST(TorchLimits, HoldsAComputeToItsMemory) {
  const Host host;
  const LoadedModel model(host, TorchModel("def forward(self, n: int):\n    return torch.zeros([n]).sum()\n"),
                          TorchOptions());
  Context context(model, 1 << 20);
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_DTYPE_I64, {}, {1 << 10})));
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(context.Compute());
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_DTYPE_I64, {}, {1 << 20})));
  const Result computed = context.Compute();
  EXPECT_EQ(computed.code, WASINN_ERROR_TOO_LARGE);
  EXPECT_THAT(computed.message, HasSubstr("1048576"));
  // More than any machine has, without a limit of ours.
  Context unlimited(model);
  ASSERT_TRUE(unlimited.Set(0, MakeTensor<int64_t>(WASINN_DTYPE_I64, {}, {int64_t{1} << 50})));
  EXPECT_EQ(unlimited.Compute().code, WASINN_ERROR_TOO_LARGE);
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_DTYPE_I64, {}, {1 << 10})));
  EXPECT_TRUE(context.Compute());
}

TEST(TorchLimits, StateCountsFromComputeToCompute) {
  const Host host;
  const LoadedModel model(
      host,
      TorchModel("def forward(self, x):\n    self.kept = torch.cat([self.kept, x])\n    return x * 1\n",
                 {{"kept", Floats({0}, {})}}),
      TorchOptions());
  Context context(model, 1 << 20);
  ASSERT_TRUE(context.Set(0, Floats({16384}, std::vector<float>(16384, 1))));
  int computed = 0;
  Result last;
  while (computed < 100 && (last = context.Compute())) ++computed;
  EXPECT_EQ(last.code, WASINN_ERROR_TOO_LARGE);
  EXPECT_GT(computed, 3);
}

TEST(TorchLimits, ShowsNoMemoryThatWasNeverWritten) {
  const Host host;
  const LoadedModel model(host, TorchModel("def forward(self, n: int):\n    return torch.empty([n], dtype=0)\n"),
                          TorchOptions());
  std::vector<char> secret(100000, 's');
  secret = {};
  Context context(model);
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_DTYPE_I64, {}, {100000})));
  ASSERT_TRUE(context.Compute());
  const Tensor out = MustGet(&context);
  EXPECT_EQ(out.bytes, std::string(100000, '\0'));
}

}  // namespace
}  // namespace wasinn::test
