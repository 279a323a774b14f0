#include "backends/taken.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <optional>

#ifdef __SANITIZE_ADDRESS__
extern "C" size_t __sanitizer_get_current_allocated_bytes();  // GCC has no header for it
#endif

namespace wasinn::test {

uint64_t AllocatedBytes() {
#ifdef __SANITIZE_ADDRESS__
  return __sanitizer_get_current_allocated_bytes();
#else
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#endif
}

namespace {

void Release(const wasinn_tensor& taken) { taken.release(taken.owner); }

class TakingContext {
 public:
  TakingContext(const Model& model, const std::vector<Tensor>& inputs, Account* account)
      : model_(model), context_(model, 0, "{}", account) {
    for (uint32_t i = 0; i < inputs.size(); ++i) EXPECT_TRUE(context_.Set(i, inputs[i]));
    for (int i = 0; i < 2; ++i) Compute();
  }
  void Compute() {
    const Result computed = context_.Compute();
    EXPECT_TRUE(computed) << computed.message;
  }
  wasinn_tensor Take() {
    wasinn_tensor taken = {.struct_size = sizeof(taken)};
    EXPECT_TRUE(TakeError(model_.host().table().take_output(context_.get(), 0, &taken)));
    return taken;
  }

 private:
  const Model& model_;
  Context context_;
};

// Of what is allocated beside what is charged.
int64_t Uncharged(const Account& account) {
  return static_cast<int64_t>(AllocatedBytes()) - static_cast<int64_t>(account.used);
}

}  // namespace

void ExpectTakenOutputsAreFreed(const Model& model, const std::vector<Tensor>& inputs) {
  Account account;
  std::optional<TakingContext> context(std::in_place, model, inputs, &account);
  const int64_t before = Uncharged(account);
  const wasinn_tensor first = context->Take();
  const auto half = static_cast<int64_t>(first.bytes / 2);
  ASSERT_GT(half, 200'000);
  context->Compute();
  Release(first);
  EXPECT_LT(Uncharged(account), before + half) << "of one that came back when there was another";
  account.limit = 0;  // so that nothing more can be charged
  const wasinn_tensor second = context->Take();
  context->Compute();
  const wasinn_tensor third = context->Take();
  context->Compute();
  Release(second);
  EXPECT_LT(Uncharged(account), before + half + 2 * half) << "of one that could not be charged";
  context->Compute();
  const wasinn_tensor fourth = context->Take();
  context.reset();
  EXPECT_EQ(account.used, 0u);
  const int64_t taken = Uncharged(account);
  Release(third);
  EXPECT_LT(Uncharged(account), taken - half) << "of one that outlived its context";
  Release(fourth);
}

}  // namespace wasinn::test
