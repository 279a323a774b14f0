#include "llama/generation.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "common/throw.h"
#include "llama/model.h"
#include "llama/prompt.h"

namespace wasinn::llama {

using backend::Error;
using backend::Throw;

namespace {

std::vector<std::string> StopWords(const Settings& settings, const ChatForm* form) {
  std::vector<std::string> words = settings.stop_words;
  if (form != nullptr)
    std::ranges::copy_if(form->stops, std::back_inserter(words), [](const auto& w) { return !w.empty(); });
  return words;
}

std::set<llama_token> Preserved(const Model& model, const ChatForm* form) {
  std::set<llama_token> preserved;
  if (form == nullptr) return preserved;
  for (const std::string& text : form->preserved) {
    const std::vector<llama_token> tokens = TokenizeSpecial(model, text);
    if (tokens.size() == 1) preserved.insert(tokens.front());
  }
  return preserved;
}

// An image may have to be evaluated in one piece.
size_t PartOf(const Settings& settings, size_t prompt, const MediaPrompt* media) {
  return settings.prompt_steps && media == nullptr ? settings.batch : prompt;
}

constexpr size_t kLeastRoom = 4;

// Computed like in llama.cpp's server.
size_t TokensToKeep(const Model& model, const Settings& settings, size_t prompt, size_t capacity) {
  size_t keep = settings.keep < 0 ? prompt : static_cast<size_t>(settings.keep);
  if (model.host().library().vocab_get_add_bos(model.vocabulary())) ++keep;
  return std::min({keep, prompt, std::max(capacity, kLeastRoom) - kLeastRoom});
}

}  // namespace

Generation::Generation(const Model& model, const Settings& settings, const ChatForm* form,
                       std::vector<llama_token> prompt, MediaPrompt* media, Sequence* sequence,
                       Probabilities* probabilities, const std::atomic<bool>& cancelled, void* account,
                       GuestStates* states)
    : model_(model),
      media_(media),
      sequence_(sequence),
      probabilities_(probabilities),
      predict_(settings.predict),
      reuse_(settings.cache_prompt),
      part_(PartOf(settings, prompt.size(), media)),
      prompt_size_(prompt.size()),
      states_(model, settings, *sequence, prompt, Spans(media), states, account),
      shift_(settings.shift),
      keep_(TokensToKeep(model, settings, prompt.size(), sequence->capacity())),
      sampler_(model, settings, form, cancelled, account),
      stop_tokens_(settings.stop_tokens),
      preserved_(Preserved(model, form)),
      writer_(StopWords(settings, form)),
      next_(std::move(prompt)),
      left_(next_),
      held_(next_.size()) {
  if (shift_ && media_ != nullptr) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
          "context-shift: no part of a text with images or sounds can be discarded");
  }
  if (!shift_ || sequence_->can_shift()) return;
  Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
        "context-shift: the cache of this model cannot discard a part, or its keys are packed (cache-type-k)");
}

std::span<const llama_token> Generation::Begin() {
  const Sequence::Begun begun = sequence_->Begin(next_, media_, reuse_, states_.state());
  if (begun.is_restored) restored_tokens_ = begun.kept;
  evaluated_tokens_ = next_.size() - begun.kept;
  return std::span(next_).subspan(begun.kept);
}

bool Generation::EvaluatePart() {
  if (left_.size() <= part_) return false;
  sequence_->Evaluate(left_.first(part_), nullptr, 1);
  left_ = left_.subspan(part_);
  return true;
}

bool Generation::MakeRoom() {
  if (held_ <= sequence_->capacity()) return true;
  // The last token is not evaluated yet.
  const size_t discarded = (held_ - 1 - keep_) / 2;
  if (!shift_ || discarded == 0) return false;
  sequence_->Shift(keep_, discarded);
  held_ -= discarded;
  ++shifts_;
  discarded_tokens_ += discarded;
  return true;
}

Generation::End Generation::Last(End end, Reason reason, std::string* piece) {
  *piece += writer_.End();
  end_ = end;
  reason_ = reason;
  states_.Save(sequence_);
  sequence_->End();
  // If the end comes with text, the next step reports it.
  return piece->empty() ? end : End::kNone;
}

Generation::End Generation::Cut(std::string* piece) {
  *piece += writer_.End();
  end_ = End::kCut;
  if (reason_ == Reason::kNone) reason_ = Reason::kLength;
  sequence_->End();
  return piece->empty() ? end_ : End::kNone;
}

Generation::End Generation::Step(std::string* piece) {
  piece->clear();
  step_token_.reset();
  if (probabilities_ != nullptr) probabilities_->NewStep();
  if (end_ != End::kNone) return end_;
  try {
    return Next(piece);
  } catch (const Error& error) {
    if (error.code() != WASINN_ERROR_TIMEOUT || output_tokens_ == 0) throw;
    return Cut(piece);
  }
}

Generation::End Generation::Next(std::string* piece) {
  const bool is_first = !std::exchange(begun_, true);
  if (predict_ == 0) {
    if (states_.saves()) sequence_->Evaluate(Begin(), nullptr, 1);
    left_ = {};
    return Last(End::kOver, Reason::kLength, piece);
  }
  if (is_first) left_ = Begin();
  if (EvaluatePart()) return End::kNone;
  const std::span<const llama_token> tokens = left_.empty() ? next_ : std::exchange(left_, {});
  const llama_token token = sequence_->Next(tokens, &sampler_);
  if (model_.host().library().vocab_is_eog(model_.vocabulary(), token) ||
      std::ranges::find(stop_tokens_, token) != stop_tokens_.end()) {
    return Last(End::kOver, Reason::kModel, piece);
  }
  ++output_tokens_;
  step_token_ = token;
  if (probabilities_ != nullptr) probabilities_->Add(token, sampler_);
  *piece = writer_.Add(PieceOf(model_, token, preserved_.contains(token)));
  next_.assign(1, token);
  if (writer_.stopped()) return Last(End::kOver, Reason::kWord, piece);
  // The token belongs to the completion, even if it completes no text.
  End end = End::kNone;
  if (predict_ > 0 && output_tokens_ == static_cast<uint64_t>(predict_)) end = End::kOver;
  ++held_;
  if (end == End::kNone && !MakeRoom()) end = End::kFull;
  if (end == End::kNone) return End::kNone;
  Last(end, Reason::kLength, piece);
  return End::kNone;
}

}  // namespace wasinn::llama
