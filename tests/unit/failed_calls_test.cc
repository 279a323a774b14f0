// Backends whose calls fail in the middle: what a context does next.
#include "unit/direct_context.h"
#include "unit/no_memory.h"

namespace wasinn::testing {
namespace {

// Bindings of inputs that begin with 3 fail, as those do whose dimensions a framework does not take.
wasinn_backend Picky() {
  wasinn_backend table = EchoTable();
  table.bind_input = [](wasinn_backend_slot* slot, uint32_t index, const wasinn_tensor* tensor) -> wasinn_error* {
    static wasinn_error error{sizeof error, WASINN_ERROR_INVALID_ARGUMENT, "not 3", [](wasinn_error*) {}};
    return *static_cast<const uint8_t*>(tensor->data) == 3 ? &error : EchoTable().bind_input(slot, index, tensor);
  };
  return table;
}

void SetBoth(Direct* direct, core::Context* context, const std::vector<uint8_t>& x) {
  ASSERT_TRUE(context->SetInput(0, direct->Tensor(x)).ok());
  ASSERT_TRUE(context->SetInput(1, direct->Tensor({1, 2, 3, 4})).ok());
}

class AfterAFailedBinding : public ::testing::TestWithParam<const char*> {};

// On a slot that others had in the meantime.
TEST_P(AfterAFailedBinding, EverythingIsBoundAgain) {
  Direct direct((std::string("in x u8 2\nin y u8 4") + GetParam() + "\nshares\nturns 0\n").c_str(), Picky());
  const auto first = direct.New(), one = direct.New(), other = direct.New();  // the last two share
  for (core::Context* context : {one.get(), other.get()}) {
    SetBoth(&direct, context, {1, 2});
    ASSERT_TRUE(context->Compute(nullptr).ok());
  }
  ASSERT_TRUE(one->SetInput(0, direct.Tensor({3, 3})).ok());
  EXPECT_EQ(one->Compute(nullptr).code(), WASINN_ERROR_INVALID_ARGUMENT);
  ASSERT_TRUE(one->SetInput(0, direct.Tensor({5, 6})).ok());
  const core::Status computed = one->Compute(nullptr);
  ASSERT_TRUE(computed.ok()) << computed.message();
  std::vector<uint8_t> out(4);
  uint64_t size = 0;
  ASSERT_TRUE(one->GetOutput(1, out, size).ok());
  EXPECT_EQ(size, 4u);
  EXPECT_EQ(out, (std::vector<uint8_t>{1, 2, 3, 4}));
}

INSTANTIATE_TEST_SUITE_P(All, AfterAFailedBinding, ::testing::Values("", " optional", " bindable"));

TEST(OutOfMemory, WhileASlotIsTaken) {
  Direct direct("in x u8 2\nin y u8 4 bindable\nshares\nturns 0\n");
  const auto first = direct.New(), one = direct.New(), other = direct.New();
  for (core::Context* context : {one.get(), other.get()}) SetBoth(&direct, context, {1, 2});
  ASSERT_TRUE(one->Compute(nullptr).ok());
  FailEachAllocation([&] { ASSERT_TRUE(one->Compute(nullptr).ok()); },
                     [&] {
                       std::vector<uint8_t> out(4);
                       uint64_t size = 0;
                       const core::Status again = one->Compute(nullptr);
                       EXPECT_TRUE(again.ok()) << again.message();
                       EXPECT_TRUE(one->GetOutput(1, out, size).ok());
                       EXPECT_TRUE(other->Compute(nullptr).ok());
                     });
}

TEST(OutOfMemory, AStepThatFailsHasNoPiece) {
  static bool fails;
  fails = false;
  wasinn_backend table = EchoTable();
  table.step = [](wasinn_backend_slot* slot) {
    static wasinn_error error{sizeof error, WASINN_ERROR_RUNTIME,
                              "a message that is long enough to need memory of its own", [](wasinn_error*) {}};
    return fails ? &error : EchoTable().step(slot);
  };
  Direct direct("in x u8 -1\npieces 2\nturns 0\n", table);
  const auto context = direct.New();
  ASSERT_TRUE(context->SetInput(0, direct.Tensor({1, 2, 3, 4, 5, 6})).ok());
  ASSERT_TRUE(context->Step().ok());
  fails = true;
  {
    const NoMemory none(0);
    EXPECT_THROW((void)context->Step(), std::bad_alloc);
  }
  std::vector<uint8_t> out(8);
  uint64_t size = 0;
  EXPECT_EQ(context->GetPiece(0, out, size).code(), WASINN_ERROR_INVALID_ARGUMENT);
}

// It is not wanted, and a slot would be idle with it.
TEST(Outgrown, AnOutputThatIsNotWantedIsLookedAt) {
  static int resets;
  resets = 0;
  wasinn_backend table = EchoTable();
  table.output = [](wasinn_backend_slot* slot, uint32_t index, wasinn_tensor* view) -> wasinn_error* {
    static std::vector<uint8_t> large(1 << 20);
    static const int64_t dim = 1 << 20;
    wasinn_error* error = EchoTable().output(slot, index, view);
    if (index == 1 && error == nullptr) {
      view->rank = 1, view->dims = &dim, view->data = large.data(), view->bytes = large.size();
    }
    return error;
  };
  table.reset = [](wasinn_backend_slot* slot) { return ++resets, EchoTable().reset(slot); };
  Direct direct("in x u8 4\nin y u8 4\nshares\nturns 0\n", table);
  const auto first = direct.New(), context = direct.New();  // which shares
  const uint32_t wanted[] = {0};
  ASSERT_TRUE(context->SelectOutputs(wanted).ok());
  SetBoth(&direct, context.get(), {1, 2, 3, 4});
  ASSERT_TRUE(context->Compute(nullptr).ok());
  EXPECT_EQ(resets, 1);
}

// Models that fill their context leave outputs.
TEST(OutOfRoom, OutputsOfASharedSlotAreMovedToo) {
  wasinn_backend table = EchoTable();
  table.compute = [](wasinn_backend_slot* slot, const wasinn_compute_options* options, wasinn_compute_result* result) {
    wasinn_error* error = EchoTable().compute(slot, options, result);
    static wasinn_error is_full{sizeof is_full, WASINN_ERROR_CONTEXT_FULL, "full", [](wasinn_error*) {}};
    return error == nullptr ? &is_full : error;
  };
  Direct d("in x u8 -1\nshares\nturns 0\n", table);
  auto first = d.New();
  auto context = d.New();  // shares
  ASSERT_TRUE(context->SetInput(0, d.Tensor(std::vector<uint8_t>(256, 7))).ok());
  std::vector<uint8_t> out(256);
  uint64_t size = 0;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(context->Compute(nullptr).code(), WASINN_ERROR_CONTEXT_FULL);
    const std::vector<std::vector<uint8_t>> others(8, std::vector<uint8_t>(256, 0x55));
    ASSERT_TRUE(context->GetOutput(0, out, size).ok());
    EXPECT_EQ(out[0], 7);
  }
}

}  // namespace
}  // namespace wasinn::testing
