#include "llama/generation.h"

#include <span>
#include <utility>

#include "llama/model.h"
#include "llama/prompt.h"

namespace wasinn::llama {

Generation::Generation(const Model& model, const Settings& settings, std::vector<llama_token> prompt,
                       Sequence* sequence, void* account)
    : model_(model),
      sequence_(sequence),
      predict_(settings.predict),
      reuse_(settings.cache_prompt),
      sampler_(model, settings, account),
      writer_(settings.stop_words),
      next_(std::move(prompt)),
      held_(next_.size()) {}

Generation::End Generation::Last(End end, std::string* piece) {
  *piece += writer_.End();
  end_ = end;
  sequence_->End();
  // An end that brings text comes with the next step.
  return piece->empty() ? end : End::kNone;
}

Generation::End Generation::Step(std::string* piece) {
  piece->clear();
  if (end_ != End::kNone) return end_;
  if (predict_ == 0) return Last(End::kOver, piece);
  std::span<const llama_token> tokens = next_;
  if (!std::exchange(begun_, true)) {
    tokens = tokens.subspan(sequence_->Begin(tokens, reuse_));
    evaluated_tokens_ = tokens.size();
  }
  const llama_token token = sequence_->Next(tokens, &sampler_);
  if (model_.host().library().vocab_is_eog(model_.vocabulary(), token)) return Last(End::kOver, piece);
  ++output_tokens_;
  *piece = writer_.Add(PieceOf(model_, token));
  next_.assign(1, token);
  if (writer_.stopped()) return Last(End::kOver, piece);
  // The token is part of the completion in any case, with or without text that is whole.
  End end = End::kNone;
  if (predict_ > 0 && output_tokens_ == static_cast<uint64_t>(predict_)) end = End::kOver;
  if (end == End::kNone && ++held_ > sequence_->capacity()) end = End::kFull;
  if (end == End::kNone) return End::kNone;
  Last(end, piece);
  return End::kNone;
}

}  // namespace wasinn::llama
