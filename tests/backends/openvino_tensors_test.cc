// Inputs that are read in place, outputs that are taken along, and limits on them.
#include "backends/expect.h"
#include "backends/openvino_models.h"
#include "backends/openvino_writer.h"
#include "check/borrowed.h"
#include "support/own_process.h"

namespace wasinn::test {
namespace {

TEST(OpenVinoLimits, OutputsOverTheLimitAreErrors) {
  const Host host;
  const LoadedModel model(host, IrXml("huge_output"), IrOptions("huge_output"));
  Context limited(model, 1 << 16);
  ASSERT_TRUE(limited.Set(0, MakeTensor<int64_t>(WASINN_DTYPE_I64, {2}, {1024, 1024})));
  const Result computed = limited.Compute();
  EXPECT_EQ(computed.code, WASINN_ERROR_TOO_LARGE) << computed.message;
  Tensor out;
  EXPECT_EQ(limited.Get(0, &out).code, WASINN_ERROR_INVALID_ARGUMENT);
  ASSERT_TRUE(limited.Set(0, MakeTensor<int64_t>(WASINN_DTYPE_I64, {2}, {2, 2})));
  MustCompute(&limited);
  ASSERT_TRUE(limited.Get(0, &out));
  EXPECT_THAT(out.As<float>(), ElementsAre(1, 1, 1, 1));
  // Too much for any machine.
  Context context(model);
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_DTYPE_I64, {2}, {int64_t{1} << 31, int64_t{1} << 31})));
  EXPECT_FALSE(context.Compute());
}

TEST(OpenVinoLimits, FixedOutputsAreCountedBeforehand) {
  const Host host;
  const LoadedModel model(host, IrXml("relu"), IrOptions("relu"));
  const Contexts none(host, model, {.max_bytes = 602111});
  EXPECT_EQ(none.made, 0u);
  EXPECT_EQ(none.refused.code, WASINN_ERROR_TOO_LARGE) << none.refused.message;
}

// A new request takes as long as a small model: its few bytes are kept after a discard, and charged while nobody else
// charges them.
TEST(OpenVinoLimits, SmallOutputsStayAndAreCharged) {
  const Host host;
  const LoadedModel model(host, IrXml("dynamic"), IrOptions("dynamic"));
  Account account;
  Context context(model, 0, "{}", &account);
  const auto compute = [&](float x) {
    ASSERT_TRUE(context.Set(0, Floats({2, 2}, {x, 2, 3, 4})));
    MustCompute(&context);
    EXPECT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(x, 2, 3, 4));
  };
  for (int i = 0; i < 2; ++i) {
    compute(static_cast<float>(i));
    EXPECT_EQ(account.used, 0u);
    context.DiscardOutputs();
    EXPECT_EQ(account.used, 16u);
    Tensor none;
    EXPECT_EQ(context.Get(0, &none).code, WASINN_ERROR_INVALID_ARGUMENT);
  }
  // If there is no room for them, they are freed.
  compute(3);
  account.limit = 15;
  context.DiscardOutputs();
  EXPECT_EQ(account.used, 0u);
  compute(4);
}

// The core charges what was taken, and no longer what is in the request.
TEST(OpenVinoLimits, MemoryThatStaysInTheRequestIsCharged) {
  const Host host;
  const Model model(host, IrXml("dynamic"), IrOptions("dynamic"));
  Account account;
  Context context(model, 0, "{}", &account);
  ASSERT_TRUE(context.Set(0, Floats({2, 2}, {1, 2, 3, 4})));
  MustCompute(&context);
  {
    const check::Taken taken(&context, 0);
    ASSERT_TRUE(taken.result()) << taken.result().message;
    EXPECT_EQ(account.used, 16u);
  }
  MustCompute(&context);
  EXPECT_EQ(account.used, 0u);
  account.limit = 15;
  EXPECT_EQ(check::Taken(&context, 0).result().code, WASINN_ERROR_TOO_LARGE);
  EXPECT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(1, 2, 3, 4));
}

// They are shown as copies, which only their context holds.
class OpenVinoPassedOn : public ::testing::Test {
 protected:
  static constexpr int64_t kSize = 1 << 22;
  static constexpr uint64_t kBytes = sizeof(float) * kSize;

  static Result Compute(Context* context, int64_t size = kSize) {
    EXPECT_TRUE(context->Set(0, Floats({size}, std::vector<float>(static_cast<size_t>(size), 1))));
    return context->Compute();
  }
  // All that the context holds now is no more than these.
  void ExpectHeld(uint64_t bytes) const { EXPECT_LT(AllocatedBytes(), at_first_ + bytes + kBytes / 2); }
  void Begin() { at_first_ = AllocatedBytes(); }

  const Host host_;

 private:
  uint64_t at_first_ = 0;
};

TEST_F(OpenVinoPassedOn, NoCopyIsMadeBeyondTheLimit) {
  const LoadedModel model(host_, PassedOn(40), OpenVinoOptions());
  Begin();
  Context context(model, 40 * kBytes - 1);
  const testing::PeakMemory memory;
  const Result computed = Compute(&context);
  EXPECT_EQ(computed.code, WASINN_ERROR_TOO_LARGE) << computed.message;
  EXPECT_THAT(computed.message, HasSubstr(std::to_string(40 * kBytes)));
  EXPECT_LT(memory.grown(), 8 * kBytes);
  ExpectHeld(kBytes);
  ASSERT_TRUE(Compute(&context, 40));
  EXPECT_THAT(MustGet(&context, 39).As<float>(), SizeIs(40));
}

TEST_F(OpenVinoPassedOn, NothingIsLeftAfterADiscard) {
  const LoadedModel model(host_, PassedOn(4), OpenVinoOptions());
  Begin();
  Account account;
  Context context(model, 0, "{}", &account);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(Compute(&context));
    // The core charges four outputs and the input; other memory is charged here.
    ExpectHeld(account.used + 5 * kBytes);
    EXPECT_LE(account.used, kBytes);
    host_.table().discard_outputs(context.get());
    EXPECT_EQ(account.used, 0u);
    ExpectHeld(kBytes);
  }
  ASSERT_TRUE(Compute(&context));
  ASSERT_TRUE(Compute(&context, 4));
  ExpectHeld(account.used);
}

TEST_F(OpenVinoPassedOn, NothingIsLeftWhereItCannotBePaid) {
  const LoadedModel model(host_, PassedOn(4), OpenVinoOptions());
  Begin();
  Account account = {.limit = kBytes - 1};
  Context context(model, 0, "{}", &account);
  EXPECT_EQ(Compute(&context).code, WASINN_ERROR_TOO_LARGE);
  EXPECT_EQ(account.used, 0u);
  ExpectHeld(kBytes);
  ASSERT_TRUE(Compute(&context, 4));
  EXPECT_THAT(MustGet(&context, 3).As<float>(), ElementsAre(1, 1, 1, 1));
}

// The core knows no size for a type that is not shown.
TEST_F(OpenVinoPassedOn, OutputsOfHiddenTypesAreCharged) {
  constexpr uint64_t kNarrow = kSize / 2;
  for (const int64_t size : {int64_t{-1}, kSize}) {
    Ir ir;
    ir.Result(ir.Narrow(ir.Parameter(size)));
    const LoadedModel model(host_, ir.Xml(), OpenVinoOptions());
    ASSERT_NE(model.output(0).flags & WASINN_IO_UNSERVABLE, 0u);
    Account account = {.limit = kNarrow};
    Context context(model, 0, "{}", &account);
    const Result computed = Compute(&context);
    EXPECT_TRUE(computed) << computed.message;
    EXPECT_EQ(account.used, kNarrow);
    account.limit = 0;
    host_.table().discard_outputs(context.get());
    EXPECT_EQ(account.used, 0u);
    EXPECT_EQ(Compute(&context).code, WASINN_ERROR_TOO_LARGE);
    EXPECT_EQ(account.used, 0u);
    Context limited(model, kNarrow - 1);
    EXPECT_EQ(Compute(&limited).code, WASINN_ERROR_TOO_LARGE);
  }
}

}  // namespace
}  // namespace wasinn::test
