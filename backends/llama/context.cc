#include "llama/context.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "common/config.h"
#include "common/throw.h"
#include "llama/drafted_sequence.h"
#include "llama/own_sequence.h"
#include "llama/shared_sequence.h"
#include "llama/token_lists.h"

namespace wasinn::llama {

using backend::Config;
using backend::Throw;

namespace {

constexpr char kNotPrinted[] =
    "stream-stdout: only `wasinn run` writes text to the guest's stdout, for a model in its own process: compute step "
    "by step and print the pieces";
constexpr size_t kEmbeddingStep = 256;  // llama.cpp rounds the size of a context up to it
// A guest that decodes usually wants some more later, and room for more needs a new llama context.
constexpr uint32_t kOutputsForDecode = 8;

}  // namespace

Context::Context(const Model& model, const wasinn_slot_options& options)
    : model_(model),
      max_bytes_(options.max_bytes),
      account_(options.account),
      states_(model.states().Of(options.account)),
      base_(model.config().defaults),
      texts_reservation_(model.host().services(), options.account),
      branches_reservation_(model.host().services(), options.account),
      embeddings_reservation_(model.host().services(), options.account),
      report_reservation_(model.host().services(), options.account) {
  const Config config(options.guest_config, "configuration from the guest");
  base_.Apply(config, model.config().limits, model.config().loras);
  CheckKeys(config, "configuration from the guest");
  settings_ = base_;
}

Context::~Context() = default;

void Context::PrepareSequence(size_t tokens) {
  Settings needed = settings_;
  // Embeddings keep nothing between texts, and need memory for every token.
  if (needed.embedding) {
    const auto rounded = static_cast<uint32_t>((tokens + kEmbeddingStep - 1) / kEmbeddingStep * kEmbeddingStep);
    const uint32_t held = sequence_ != nullptr && sequence_settings_.embedding ? sequence_settings_.context : 0;
    needed.context = std::min(needed.context, std::max(rounded, held));
  }
  if (needed.decode.on) {
    needed.outputs = OutputsForDecode();
    needed.branches = branches_.size() > 1;
  }
  // A larger sequence is kept, unless the shared context would do.
  if (sequence_ != nullptr && !is_shared_ && (needed.decode.on || model_.batcher() == nullptr)) {
    needed.outputs = std::max(needed.outputs, sequence_settings_.outputs);
    needed.branches = needed.branches || sequence_settings_.branches;
  }
  // Adapters apply to a whole llama context; embeddings and logits of many tokens need one, too.
  const bool is_shared =
      model_.batcher() != nullptr && needed.adapters.Scales().empty() && !needed.embedding && needed.outputs == 1;
  if (needed.decode.on && !is_shared) needed.outputs = std::max(needed.outputs, kOutputsForDecode);
  if (sequence_ == nullptr || is_shared != is_shared_ || !sequence_settings_.SameContext(needed)) {
    MakeSequence(needed, is_shared);
  }
  if (!is_shared) static_cast<OwnSequence&>(*sequence_).UseAdapters(needed.adapters);
}

void Context::MakeSequence(Settings needed, bool is_shared) {
  sequence_.reset();  // freed first, so that there are never two
  if (!needed.embedding) model_.CheckGenerates();
  if (is_shared) {
    sequence_ =
        std::make_unique<SharedSequence>(model_.batcher(), account_, needed.context, model_.recurrent(), cancelled_);
  } else if (model_.draft() != nullptr && !needed.embedding) {
    sequence_ = std::make_unique<DraftedSequence>(model_, needed, max_bytes_, account_, cancelled_);
  } else {
    sequence_ = std::make_unique<OwnSequence>(model_, needed, max_bytes_, account_, cancelled_);
  }
  sequence_settings_ = std::move(needed);
  is_shared_ = is_shared;
}

void Context::BeginGeneration() {
  generation_.reset();
  completion_ = std::string();
  text_.Resize(0);
  reason_ = Generation::Reason::kNone;
  message_of_.reset();
  output_tokens_ = evaluated_tokens_ = held_prompt_ = restored_tokens_ = shifts_ = discarded_tokens_ = 0;
  drafts_ = {};
  has_output_ = has_piece_ = answered_ = is_full_ = false;
  stop_word_.clear();
  step_token_.reset();
  ForgetReport();
  probabilities_.reset();
  logits_.reset();
  ForgetEmbeddings();
  const size_t longest = LongestText();
  if (settings_.tokenize || settings_.detokenize) return;
  PrepareSequence(longest);
  // Smaller only if llama.cpp made it so.
  if (longest > sequence_->capacity()) {
    Throw(WASINN_ERROR_PROMPT_TOO_LONG, "the prompt has {} tokens: the context has {}", longest, sequence_->capacity());
  }
  if (settings_.embedding || settings_.decode.on) return;
  if (media_ != nullptr && media_->most_at_once() > sequence_->most_at_once()) {
    Throw(WASINN_ERROR_TOO_LARGE, "an image of {} tokens is evaluated at once: batch-size and ubatch-size allow {}",
          media_->most_at_once(), sequence_->most_at_once());
  }
  if (const auto others = settings_.sampling.probabilities) {
    probabilities_ = std::make_unique<Probabilities>(model_, static_cast<size_t>(*others),
                                                     settings_.sampling.probabilities_after, account_);
  }
  generation_ = std::make_unique<Generation>(model_, settings_, chat_ == nullptr ? nullptr : &chat_->form(),
                                             ReadPrompt(), media_.get(), sequence_.get(), probabilities_.get(),
                                             cancelled_, account_, states_.get());
}

void Context::Embed() {
  auto& sequence = static_cast<OwnSequence&>(*sequence_);
  if (settings_.rerank && !sequence.ranks()) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "rerank: the model does not rank texts");
  }
  const Texts one = has_many_texts() ? Texts() : Texts{ReadPrompt()};
  const Texts& texts = has_many_texts() ? ReadTexts() : one;
  for (const auto& tokens : texts) {
    std::vector<float> embedding = sequence.Embed(tokens, settings_.normalize);
    evaluated_tokens_ += tokens.size();
    if (settings_.rerank) embedding.resize(1);  // like llama.cpp's server: the first label's
    if (embeddings_.empty()) {
      embeddings_reservation_.Resize(texts.size() * embedding.size() * sizeof(float));
      embeddings_.reserve(texts.size() * embedding.size());
    }
    embeddings_.insert(embeddings_.end(), embedding.begin(), embedding.end());
  }
  shape_[0] = static_cast<int64_t>(texts.size());
  shape_[1] = static_cast<int64_t>(embeddings_.size() / texts.size());
  completion_ = has_many_texts() ? fmt::format(R"({{"n_embedding":{},"n_texts":{}}})", shape_[1], shape_[0])
                                 : fmt::format(R"({{"n_embedding":{},"embedding":[{}]}})", embeddings_.size(),
                                               fmt::join(embeddings_, ","));
}

void Context::AnswerTokens() {
  const std::vector<llama_token>& tokens = ReadPrompt();
  if (!settings_.with_pieces) {
    completion_ = TokensAsJson(tokens, chat_ == nullptr ? nullptr : &chat_->form().prompt);
    return;
  }
  // Much larger than the prompt, so it is charged before it is made.
  text_ = backend::Reservation(model_.host().services(), account_);
  text_.Resize(BytesOfPieces(model_, tokens, cancelled_));
  completion_ = PiecesAsJson(model_, tokens, cancelled_);
  completion_.shrink_to_fit();
  text_.Resize(completion_.size());
}

void Context::Answer() {
  if (settings_.tokenize) {
    AnswerTokens();
  } else if (settings_.detokenize) {
    completion_ = TextOf(model_, ReadPrompt());
  } else if (settings_.decode.on) {
    Decode();
  } else {
    Embed();
  }
  answered_ = true;
}

// A context that shifts never ends, so its text has no limit.
void Context::ChargeText() {
  constexpr uint64_t kFree = 64 << 10;
  if (completion_.size() <= kFree || completion_.size() <= text_.bytes()) return;
  if (text_.bytes() == 0) text_ = backend::Reservation(model_.host().services(), account_);
  text_.Resize((completion_.size() / kFree + 1) * kFree);
}

Generation::End Context::StepInside() {
  if (answers_at_once()) {
    if (answered_) return Generation::End::kOver;
    Answer();
    ChargeText();
    return Generation::End::kNone;
  }
  const Generation::End end = generation_->Step(&piece_);
  completion_ += piece_;
  reason_ = generation_->reason();
  ChargeText();
  output_tokens_ = generation_->output_tokens();
  evaluated_tokens_ = generation_->evaluated_tokens();
  held_prompt_ = generation_->held_prompt();
  restored_tokens_ = generation_->restored_tokens();
  shifts_ = generation_->shifts();
  discarded_tokens_ = generation_->discarded_tokens();
  step_token_ = generation_->step_token();
  stop_word_ = generation_->stop_word();
  is_full_ = generation_->is_full();
  drafts_ = sequence_->draft_counts();
  return end;
}

bool Context::WantsSteps() {
  ReadOptions();
  if (!settings_.stream_stdout || answers_at_once()) return false;
  EndGeneration();
  return true;
}

void Context::CheckWhole(Generation::End end) const {
  if (end == Generation::End::kFull) {
    Throw(WASINN_ERROR_CONTEXT_FULL, "the context of {} tokens is full", sequence_->capacity());
  }
  if (end == Generation::End::kCut) {
    Throw(WASINN_ERROR_CONTEXT_FULL, "the text was cut after {} tokens", output_tokens_);
  }
}

void Context::Compute() {
  EndGeneration();
  Generation::End end = Generation::End::kNone;
  try {
    cancelled_ = false;
    BeginGeneration();
    if (settings_.stream_stdout && !answers_at_once()) Warn(kNotPrinted);
    while (end == Generation::End::kNone) end = StepInside();
  } catch (...) {
    generation_.reset();
    throw;
  }
  generation_.reset();
  has_output_ = true;
  CheckWhole(end);
}

void Context::Step() {
  Generation::End end = Generation::End::kNone;
  has_piece_ = false;
  try {
    cancelled_ = false;
    if (!streaming_) BeginGeneration();
    streaming_ = true;
    end = StepInside();
  } catch (...) {
    EndGeneration();
    has_output_ = false;
    throw;
  }
  has_output_ = true;
  has_piece_ = end == Generation::End::kNone;
  if (end == Generation::End::kOver) Throw(WASINN_ERROR_END_OF_SEQUENCE, "the generation has ended");
  CheckWhole(end);
}

void Context::EndGeneration() {
  generation_.reset();
  streaming_ = has_piece_ = false;
}

void Context::Finish() {
  EndGeneration();
  if (sequence_ != nullptr) sequence_->End();
}

}  // namespace wasinn::llama
