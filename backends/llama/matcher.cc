#include "llama/matcher.h"

#include <cmath>

#include "common/error.h"
#include "llama/model.h"

namespace wasinn::llama {

namespace {

const Model& ModelOf(void* user) { return *static_cast<const Model*>(user); }

wasinn_llama_vocabulary VocabularyOf(const Model& model) {
  constexpr bool kSpecial = true;
  return {.user = const_cast<Model*>(&model),  // NOLINT: returned unchanged
          .piece =
              [](void* user, int32_t token, char* to, int32_t size) {
                const Model& of = ModelOf(user);
                return of.host().library().token_to_piece(of.vocabulary(), token, to, size, 0, kSpecial);
              },
          .ends =
              [](void* user, int32_t token) {
                const Model& of = ModelOf(user);
                return of.host().library().vocab_is_eog(of.vocabulary(), token) ? 1 : 0;
              },
          .tokens =
              [](void* user, const char* text, int32_t size, int32_t* to, int32_t most) {
                const Model& of = ModelOf(user);
                return of.host().library().tokenize(of.vocabulary(), text, size, to, most, false, kSpecial);
              }};
}

}  // namespace

Matcher::Matcher(const Model& model, const std::string& grammar, const std::atomic<bool>& cancelled, void* account)
    : library_(model.host().common()),
      cancelled_(cancelled),
      reservation_(model.host().services(), account),
      matcher_(
          library_.NewMatcher(VocabularyOf(model), grammar, {.cancelled = &cancelled_, .reservation = &reservation_})),
      held_(reservation_.bytes()) {}

bool Matcher::Allows(llama_token token) {
  llama_token_data one = {token, 0, 0};
  Restrict({&one, 1});
  return !std::isinf(one.logit);
}

void Matcher::Restrict(std::span<llama_token_data> candidates) {
  tokens_.clear();
  for (const llama_token_data& one : candidates) tokens_.push_back(one.id);
  allowed_.assign(tokens_.size(), 0);
  library_.Check(matcher_.get(), tokens_, allowed_.data(),
                 {.cancelled = &cancelled_, .reservation = &reservation_, .held = &held_});
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (allowed_[i] == 0) candidates[i].logit = -INFINITY;
  }
}

bool Matcher::AcceptPiece(llama_token token, std::string_view piece) {
  return library_.Accept(matcher_.get(), token, piece,
                         {.cancelled = &cancelled_, .reservation = &reservation_, .held = &held_});
}

}  // namespace wasinn::llama
