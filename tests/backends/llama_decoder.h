// A guest that chooses tokens itself, for tests.
#pragma once

#include "backends/llama_guest.h"
#include "support/test.h"

namespace wasinn::test {

using Tokens = std::vector<int32_t>;

// Its text is the prompt that is set, and behind it `tokens`.
inline Result Decode(Context* context, const Tokens& tokens, nlohmann::json options = nlohmann::json::object()) {
  options["decode"] = true;
  EXPECT_TRUE(SetOptions(context, options.dump()));
  EXPECT_TRUE(context->Set(kTokens, MakeTensor(WASINN_DTYPE_I32, {static_cast<int64_t>(tokens.size())}, tokens)));
  return context->Compute();
}

inline std::vector<float> LogitsOf(Context* context) {
  Tensor logits;
  const Result got = context->Get(kLogits, &logits);
  EXPECT_TRUE(got) << got.message;
  return logits.As<float>();
}

inline Tokens LogitTokensOf(Context* context) {
  Tensor tokens;
  const Result got = context->Get(kLogitTokens, &tokens);
  EXPECT_TRUE(got) << got.message;
  return tokens.As<int32_t>();
}

inline int32_t Likeliest(const std::vector<float>& logits) {
  return static_cast<int32_t>(std::ranges::max_element(logits) - logits.begin());
}

// The report of the last compute: "n_tokens", "n_evaluated" …
inline nlohmann::json DecodeReport(Context* context) { return nlohmann::json::parse(Written(context)); }

// `n` tokens behind these, always the likeliest.
inline Tokens DecodeGreedily(Context* context, Tokens text, size_t n,
                             const nlohmann::json& options = nlohmann::json::object()) {
  const size_t before = text.size();
  for (size_t i = 0; i < n; ++i) {
    const Result decoded = Decode(context, text, options);
    EXPECT_TRUE(decoded) << decoded.message;
    if (!decoded) break;
    text.push_back(Likeliest(LogitsOf(context)));
  }
  return {text.begin() + static_cast<ptrdiff_t>(before), text.end()};
}

}  // namespace wasinn::test
