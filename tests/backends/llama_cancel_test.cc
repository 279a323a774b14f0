// Interrupting generations, limits of memory.
#include "backends/expect.h"
#include "backends/llama_calls.h"
#include "backends/llama_decoder.h"
#include "backends/llama_models.h"

namespace wasinn::test {
namespace {

// Whatever llama.cpp computes is cancelled as it begins.
class LlamaCancelInside : public ::testing::Test {
 protected:
  LlamaCancelInside() {
    Calls::SetInside([this] { context_.Cancel(); });
  }
  // llama.cpp has ended the only batch itself, before its end, and there are no outputs.
  void ExpectEnded(const Result& computed, uint32_t output) {
    constexpr int kAborted = 2;
    EXPECT_EQ(computed.code, WASINN_TIMEOUT) << computed.message;
    EXPECT_THAT(Calls::TakeResults(), ElementsAre(kAborted));
    Calls::SetInside(nullptr);
    Tensor none;
    EXPECT_EQ(context_.Get(output, &none).code, WASINN_INVALID_ARGUMENT);
  }

  const Host host_{Calls::kHost};
  const LoadedModel model_{host_, TinyModel(), LlamaOptions(R"({"temp": 0, "n-predict": 2})")};
  Context context_{model_};
  const Calls calls_;
};

TEST_F(LlamaCancelInside, EndsTheEvaluationOfAPrompt) {
  ASSERT_TRUE(SetPrompt(&context_, Prompt(3)));
  ExpectEnded(context_.Compute(), kCompletion);
  EXPECT_TRUE(context_.Compute()) << "the inputs are as they were";
}

TEST_F(LlamaCancelInside, EndsAStep) {
  ASSERT_TRUE(SetPrompt(&context_, Prompt(3)));
  ExpectEnded(context_.Step(), kCompletion);
  ASSERT_TRUE(context_.Step()) << "the next one begins anew";
  std::string piece;
  EXPECT_TRUE(context_.Piece(kCompletion, &piece));
}

TEST_F(LlamaCancelInside, EndsADecodeAfterWhichNothingIsHeld) {
  const Tokens text = {1, 270, 265, 264, 5, 9};
  Calls::SetInside(nullptr);
  ASSERT_TRUE(Decode(&context_, text));
  Calls::TakeResults();
  Calls::SetInside([this] { context_.Cancel(); });
  ExpectEnded(Decode(&context_, {1, 5, 6, 7}, {{"position", 0}, {"top-logits", 1}}), kLogits);
  ASSERT_TRUE(Decode(&context_, text));
  EXPECT_EQ(Told(&context_)["n_evaluated"], text.size());
  const std::vector<float> after = LogitsOf(&context_);
  Context fresh(model_);
  ASSERT_TRUE(Decode(&fresh, text));
  EXPECT_EQ(LogitsOf(&fresh), after);
}

TEST(LlamaCancel, EndsAGenerationBetweenTokens) {
  auto&& [host, model, context] = Opened(TinyModel(), LlamaOptions(kWithoutEnd));
  ASSERT_TRUE(SetPrompt(&context, "the hen"));
  ExpectCancellable(&context);
  // Too early or too late: no effect.
  ASSERT_TRUE(SetOptions(&context, R"({"n-predict": 4})"));
  context.Cancel();
  EXPECT_TRUE(context.Compute());
  context.Cancel();
  EXPECT_TRUE(context.Compute());
  context.Cancel();
  EXPECT_TRUE(context.Step());
  context.Cancel();
  EXPECT_TRUE(context.Step());
}

TEST(LlamaCancel, EndsALoad) {
  const Host host;
  int registered = 0;
  LoadOptions options = LlamaOptions();
  options.token = &registered;
  options.on_cancel = [](void* self, void (*cancel)(void*), void* arg) {
    if (cancel == nullptr) return;
    ++*static_cast<int*>(self);
    cancel(arg);
  };
  const Model model(host, TinyModel(), options);
  EXPECT_EQ(registered, 1);
  EXPECT_EQ(model.loaded().code, WASINN_TIMEOUT) << model.loaded().message;
}

TEST(LlamaLimits, RefuseAContextBeforeItsMemoryIsAllocated) {
  const Host host;
  const LoadedModel model(host, TinyLlamaWriter({.context = 65536}).Write(),
                          LlamaOptions(R"({"ctx-size": 65536, "ubatch-size": 8})"));
  Context context(model, 8 << 20);  // the KV cache alone has 16 MiB
  ASSERT_TRUE(SetPrompt(&context, "the"));
  for (int i = 0; i < 2; ++i) {
    const Result computed = context.Compute();
    EXPECT_EQ(computed.code, WASINN_TOO_LARGE) << computed.message;
    EXPECT_THAT(computed.message, HasSubstr("ctx-size"));
  }
  ASSERT_TRUE(SetOptions(&context, R"({"ctx-size": 256, "n-predict": 4})"));
  MustCompute(&context);
}

}  // namespace
}  // namespace wasinn::test
