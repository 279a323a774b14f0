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
    EXPECT_EQ(computed.code, WASINN_ERROR_TIMEOUT) << computed.message;
    EXPECT_THAT(Calls::TakeResults(), ElementsAre(kAborted));
    Calls::SetInside(nullptr);
    Tensor none;
    EXPECT_EQ(context_.Get(output, &none).code, WASINN_ERROR_INVALID_ARGUMENT);
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
  ASSERT_TRUE(context_.Step()) << "the next one starts again";
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
  EXPECT_EQ(DecodeReport(&context_)["n_evaluated"], text.size());
  const std::vector<float> after = LogitsOf(&context_);
  Context fresh(model_);
  ASSERT_TRUE(Decode(&fresh, text));
  EXPECT_EQ(LogitsOf(&fresh), after);
}

// Alone, or in a batch with others.
class LlamaCancelled : public ::testing::TestWithParam<const char*> {
 protected:
  LlamaCancelled() { EXPECT_TRUE(SetPrompt(&context_, "the hen")); }
  // From that call of llama.cpp on.
  void CancelIn(int nth) {
    calls_made_ = 0;
    Calls::SetInside([this, nth] {
      if (++calls_made_ >= nth) context_.Cancel();
    });
  }
  std::string Completed(const std::string& options) {
    Calls::SetInside(nullptr);
    return CompleteWith(&context_, options);
  }

  const Host host_{Calls::kHost};
  const LoadedModel model_{host_, TinyModel(), LlamaOptions(GetParam())};
  Context context_{model_};
  const Calls calls_;
  std::atomic<int> calls_made_ = 0;
};

TEST_P(LlamaCancelled, KeepsTheTextSoFar) {
  const std::string three = Completed(R"({"n-predict": 3})"), all = Completed(R"({"n-predict": 8})");
  ASSERT_LT(three.size(), all.size());
  CancelIn(4);
  const Result computed = context_.Compute();
  EXPECT_EQ(computed.code, WASINN_ERROR_CONTEXT_FULL) << computed.message;
  EXPECT_EQ(Written(&context_), three);
  const json metadata = Metadata(&context_);
  EXPECT_EQ(metadata["output_tokens"], 3);
  EXPECT_EQ(metadata["finish_reason"], "length") << metadata;
  EXPECT_EQ(Completed(R"({"n-predict": 8})"), all) << "the next compute is as if nothing had been";
}

TEST_P(LlamaCancelled, WritesTheHeldBackBeginningOfAStopWord) {
  const std::string three = Completed(R"({"n-predict": 3})"), all = Completed(R"({"n-predict": 8})");
  ASSERT_TRUE(SetOptions(&context_, json{{"n-predict", 8}, {"reverse-prompt", three + "?"}}.dump()));
  CancelIn(4);
  EXPECT_EQ(context_.Compute().code, WASINN_ERROR_CONTEXT_FULL);
  EXPECT_EQ(Written(&context_), three);
}

TEST_P(LlamaCancelled, KeepsTheTextOfItsSteps) {
  const std::string three = Completed(R"({"n-predict": 3})");
  ASSERT_TRUE(SetOptions(&context_, R"({"n-predict": 8})"));
  CancelIn(4);
  std::string pieces, piece;
  Result stepped;
  while ((stepped = context_.Step())) {
    ASSERT_TRUE(context_.Piece(kCompletion, &piece));
    pieces += piece;
  }
  EXPECT_EQ(stepped.code, WASINN_ERROR_CONTEXT_FULL) << stepped.message;
  EXPECT_EQ(context_.Step().code, WASINN_ERROR_CONTEXT_FULL) << "it stays ended";
  EXPECT_EQ(pieces, three);
  EXPECT_EQ(Written(&context_), three);
}

TEST_P(LlamaCancelled, WithoutATokenIsATimeout) {
  CancelIn(1);
  EXPECT_EQ(context_.Compute().code, WASINN_ERROR_TIMEOUT);
  Tensor none;
  EXPECT_EQ(context_.Get(kCompletion, &none).code, WASINN_ERROR_INVALID_ARGUMENT);
}

INSTANTIATE_TEST_SUITE_P(Forms, LlamaCancelled, ::testing::Values(R"({"temp": 0})", R"({"temp": 0, "parallel": 2})"),
                         [](const auto& form) { return form.index == 0 ? "Alone" : "InABatch"; });

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
  EXPECT_EQ(model.loaded().code, WASINN_ERROR_TIMEOUT) << model.loaded().message;
}

TEST(LlamaLimits, RefuseAContextBeforeItsMemoryIsAllocated) {
  const Host host;
  const LoadedModel model(host, TinyLlamaWriter({.context = 65536}).Write(),
                          LlamaOptions(R"({"ctx-size": 65536, "ubatch-size": 8})"));
  Context context(model, 8 << 20);  // the KV cache alone has 16 MiB
  ASSERT_TRUE(SetPrompt(&context, "the"));
  for (int i = 0; i < 2; ++i) {
    const Result computed = context.Compute();
    EXPECT_EQ(computed.code, WASINN_ERROR_TOO_LARGE) << computed.message;
    EXPECT_THAT(computed.message, HasSubstr("ctx-size"));
  }
  ASSERT_TRUE(SetOptions(&context, R"({"ctx-size": 256, "n-predict": 4})"));
  MustCompute(&context);
}

}  // namespace
}  // namespace wasinn::test
