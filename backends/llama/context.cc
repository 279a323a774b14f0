#include "llama/context.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "common/config.h"
#include "common/error.h"
#include "llama/drafted_sequence.h"
#include "llama/media_request.h"
#include "llama/own_sequence.h"
#include "llama/prompt.h"
#include "llama/shared_sequence.h"
#include "llama/token_lists.h"

namespace wasinn::llama {

using backend::Config;
using backend::Error;

namespace {

constexpr uint32_t kPromptIndex = 0, kOptionsIndex = 1, kTokensIndex = 2, kInputCount = 3;
constexpr int kMostWarnings = 16;
constexpr size_t kEmbeddingStep = 256;  // llama.cpp rounds the size of a context up to it
constexpr size_t kMostKeysNamed = 8, kLongestKeyNamed = 40;

// What a guest wrote, for a log.
std::string Printable(std::string_view text) {
  std::string printable(text.substr(0, kLongestKeyNamed));
  std::ranges::replace_if(printable, [](char c) { return c < ' ' || c > '~'; }, '?');
  return printable;
}

}  // namespace

Context::Context(const Model& model, const wasinn_slot_options& options)
    : model_(model),
      max_bytes_(options.max_bytes),
      account_(options.account),
      states_(model.states().Of(options.account)),
      base_(model.config().defaults),
      texts_reservation_(model.host().services(), options.account),
      embeddings_reservation_(model.host().services(), options.account),
      report_reservation_(model.host().services(), options.account) {
  const Config config(options.guest_config, "configuration from the guest");
  base_.Apply(config, model.config().limits, model.config().loras);
  CheckKeys(config, "configuration from the guest");
  settings_ = base_;
}

Context::~Context() = default;

// Parsed, options take many times their bytes. As much as a configuration may have.
constexpr size_t kMostOptions = size_t{256} << 10;

void Context::BindInput(uint32_t index, const wasinn_tensor& tensor) {
  if (index >= kInputCount) {
    throw Error(WASINN_INVALID_ARGUMENT, fmt::format("input {}: the model has {}", index, kInputCount));
  }
  UnbindInput(index);
  if (index == kTokensIndex) {
    chosen_ = {static_cast<const llama_token*>(tensor.data), tensor.bytes / sizeof(llama_token)};
    return;
  }
  if (index == kOptionsIndex && tensor.bytes > kMostOptions) {
    throw Error(WASINN_TOO_LARGE,
                fmt::format("options of {} bytes are longer than the limit of {}", tensor.bytes, kMostOptions));
  }
  const std::string_view text(static_cast<const char*>(tensor.data), tensor.bytes);
  (index == kPromptIndex ? prompt_ : options_) = text;
}

void Context::UnbindInput(uint32_t index) {
  EndGeneration();
  if (index == kTokensIndex) {
    chosen_ = {};
    return;
  }
  tokens_.reset();
  media_.reset();
  texts_.clear();
  texts_reservation_.Resize(0);
  (index == kPromptIndex ? prompt_ : options_) = {};
  if (index == kOptionsIndex) options_read_ = false;  // read when they are needed, since this must not fail
}

void Context::ReadOptions() {
  if (options_read_) return;
  if (options_.find('\0') != std::string::npos) {
    throw Error(WASINN_INVALID_ARGUMENT, "options: expected the text of a JSON object, found a byte 0");
  }
  const Config options(std::string(options_).c_str(), "options");
  // Each options input stands for itself.
  Settings settings = base_;
  settings.Apply(options, model_.config().limits, model_.config().loras);
  CheckKeys(options, "options");
  settings_ = std::move(settings);
  options_read_ = true;
}

namespace {

// What would be answered wrong without them: an image that nobody looked at, text where sound was asked for.
void RefuseKeys(const Config& options, bool has_projector) {
  const auto is_given = [&options](const char* key) { return !options.String(key).value_or("").empty(); };
  if (is_given("mmproj") && !has_projector) {
    throw Error(WASINN_UNSUPPORTED_OPERATION,
                "mmproj: a projector is the host's to name (\"projector\"), and this model has none");
  }
  if (is_given("image")) {
    throw Error(WASINN_UNSUPPORTED_OPERATION,
                "image: no file is opened for a guest: images are parts of messages or of the prompt, as data: URLs");
  }
  if (options.Bool("tts").value_or(false)) {
    throw Error(WASINN_UNSUPPORTED_OPERATION, "tts: models that speak are not served");
  }
}

}  // namespace

void Context::CheckKeys(const Config& options, const char* where) {
  RefuseKeys(options, model_.projector() != nullptr);
  std::vector<std::string> unknown;
  for (const std::string& key : options.Keys()) {
    if (!IsGuestKey(key) && unknown.size() < kMostKeysNamed) unknown.push_back(Printable(key));
  }
  std::string warning;
  if (!unknown.empty()) warning += fmt::format("unknown keys: {}", fmt::join(unknown, ", "));
  if (options.Bool("stream-stdout").value_or(false)) {
    warning += fmt::format(
        "{}stream-stdout: the library does not write to stdout: compute step by step and print the "
        "pieces",
        warning.empty() ? "" : "; ");
  }
  if (options.Integer("n-gpu-layers", -1, INT32_MAX)) {
    warning += fmt::format("{}n-gpu-layers: is of a model's load", warning.empty() ? "" : "; ");
  }
  if (warning.empty() || warning == warned_ || ++warnings_ > kMostWarnings) return;
  warned_ = warning;
  model_.host().log().Write(WASINN_LOG_WARNING, fmt::format("{}: {}", where, warning));
}

// llama.cpp makes tokens of all of a text at once, and nobody can interrupt it.
constexpr size_t kMostTokenizedBytes = size_t{1} << 20;

const std::vector<llama_token>& Context::ReadPrompt() {
  ReadOptions();
  if (tokens_) return *tokens_;
  chat_.reset();
  media_.reset();
  if (settings_.detokenize) return tokens_.emplace(ParseTokens(model_, prompt_, kMostListed, account_));
  if (settings_.tokens) {
    return tokens_.emplace(
        ParseMixed(model_, prompt_,
                   {.most = settings_.context, .whole = settings_.add_special, .account = account_, .gate = &gate_}));
  }
  if (settings_.chat) {
    const std::optional<MediaMessages> media = MediaMessages::Take(prompt_);
    if (media && model_.projector() == nullptr) {
      throw Error(WASINN_UNSUPPORTED_OPERATION, "the model takes no images and no sounds: it has no projector");
    }
    chat_ =
        std::make_unique<Chat>(model_, media ? std::string_view(media->text()) : prompt_, settings_, gate_, account_);
    if (media) return ReadMedia(media->Split(chat_->form().prompt));
  } else if (model_.projector() != nullptr) {
    const std::vector<MediaPart> parts = SplitAtTags(prompt_);
    if (parts.size() > 1) return ReadMedia(parts);
  }
  const std::string_view text = chat_ == nullptr ? prompt_ : std::string_view(chat_->form().prompt);
  if (settings_.tokenize && text.size() > kMostTokenizedBytes) {
    throw Error(WASINN_PROMPT_TOO_LONG, fmt::format("tokenize: the prompt has {} bytes: no more than {} are allowed",
                                                    text.size(), kMostTokenizedBytes));
  }
  const backend::Reservation meanwhile = ReserveForTokens(model_, account_, text.size());
  const size_t most = settings_.tokenize ? kMostListed : settings_.context;
  tokens_ = Tokenize(model_, text, most, settings_.add_special);
  return *tokens_;
}

const std::vector<llama_token>& Context::ReadMedia(std::span<const MediaPart> parts) {
  if (settings_.tokenize || settings_.embedding || settings_.decode.on) {
    throw Error(WASINN_UNSUPPORTED_OPERATION, "tokenize, embedding, decode: expected a text without images and sounds");
  }
  size_t texts = 0;
  for (const MediaPart& part : parts) texts += part.kind == MediaPart::Kind::kText ? part.data.size() : 0;
  const backend::Reservation meanwhile = ReserveForTokens(model_, account_, texts);
  media_ = std::make_unique<MediaPrompt>(model_, parts, settings_.context, gate_, account_);
  return tokens_.emplace(media_->tokens());
}

const Texts& Context::ReadTexts() {
  if (!texts_.empty()) return texts_;
  backend::Reservation reservation(model_.host().services(), account_);
  const CallBounds bounds = {.gate = &gate_, .reservation = &reservation};
  const backend::Reservation meanwhile = ReserveForTokens(model_, account_, prompt_.size());
  texts_ = settings_.rerank ? TokenizeRanked(model_, prompt_, settings_.context, bounds)
                            : TokenizeTexts(model_, prompt_, settings_.context, bounds);
  texts_reservation_ = std::move(reservation);
  return texts_;
}

bool Context::IsReadInComputes() const {
  if (has_many_texts()) return true;
  if (settings_.detokenize || settings_.tokens) return IsLongList(prompt_);
  if (model_.projector() == nullptr) return false;
  return settings_.chat ? MediaMessages::Take(prompt_).has_value() : SplitAtTags(prompt_).size() > 1;
}

size_t Context::LongestText() {
  ReadOptions();
  if (settings_.decode.on) return ReadText().size();
  if (!has_many_texts()) return ReadPrompt().size();
  const auto by_size = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  return std::ranges::max_element(ReadTexts(), by_size)->size();
}

uint64_t Context::InputTokens() const {
  if (settings_.decode.on && has_output_) return text_tokens_.size();
  uint64_t tokens = tokens_ ? tokens_->size() : 0;
  for (const auto& text : texts_) tokens += text.size();
  return tokens;
}

void Context::PrepareSequence(size_t tokens) {
  Settings needed = settings_;
  // What makes embeddings holds nothing from one text to the next, and takes memory for every token of them.
  if (needed.embedding) {
    const auto rounded = static_cast<uint32_t>((tokens + kEmbeddingStep - 1) / kEmbeddingStep * kEmbeddingStep);
    const uint32_t held = sequence_ != nullptr && sequence_settings_.embedding ? sequence_settings_.context : 0;
    needed.context = std::min(needed.context, std::max(rounded, held));
  }
  if (needed.decode.on) needed.outputs = OutputsForDecode();
  // One that has room for more stays, unless the others' would do.
  if (sequence_ != nullptr && !is_shared_ && (needed.decode.on || model_.batcher() == nullptr)) {
    needed.outputs = std::max(needed.outputs, sequence_settings_.outputs);
  }
  // An adapter is of a whole llama context, and so is what makes embeddings, or has logits of many tokens.
  const bool is_shared =
      model_.batcher() != nullptr && needed.adapters.Scales().empty() && !needed.embedding && needed.outputs == 1;
  if (sequence_ == nullptr || is_shared != is_shared_ || !sequence_settings_.SameContext(needed)) {
    MakeSequence(needed, is_shared);
  }
  if (!is_shared) static_cast<OwnSequence&>(*sequence_).UseAdapters(needed.adapters);
}

void Context::MakeSequence(Settings needed, bool is_shared) {
  sequence_.reset();  // first, so that there are never two
  if (!needed.embedding) model_.CheckGenerates();
  if (is_shared) {
    sequence_ = std::make_unique<SharedSequence>(model_.batcher(), account_, needed.context, model_.recurrent(), gate_);
  } else if (model_.draft() != nullptr && !needed.embedding) {
    sequence_ = std::make_unique<DraftedSequence>(model_, needed, max_bytes_, account_, gate_);
  } else {
    sequence_ = std::make_unique<OwnSequence>(model_, needed, max_bytes_, account_, gate_);
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
  // Smaller only where llama.cpp has made it so.
  if (longest > sequence_->capacity()) {
    throw Error(WASINN_PROMPT_TOO_LONG,
                fmt::format("the prompt has {} tokens: the context has {}", longest, sequence_->capacity()));
  }
  if (settings_.embedding || settings_.decode.on) return;
  if (media_ != nullptr && media_->most_at_once() > sequence_->most_at_once()) {
    throw Error(WASINN_TOO_LARGE,
                fmt::format("an image of {} tokens is evaluated at once: batch-size and ubatch-size allow {}",
                            media_->most_at_once(), sequence_->most_at_once()));
  }
  if (const auto others = settings_.sampling.probabilities) {
    probabilities_ = std::make_unique<Probabilities>(model_, static_cast<size_t>(*others),
                                                     settings_.sampling.probabilities_after, account_);
  }
  generation_ =
      std::make_unique<Generation>(model_, settings_, chat_ == nullptr ? nullptr : &chat_->form(), ReadPrompt(),
                                   media_.get(), sequence_.get(), probabilities_.get(), account_, states_.get());
}

void Context::Embed() {
  auto& sequence = static_cast<OwnSequence&>(*sequence_);
  if (settings_.rerank && !sequence.ranks()) {
    throw Error(WASINN_UNSUPPORTED_OPERATION, "rerank: the model does not rank texts");
  }
  const Texts one = has_many_texts() ? Texts() : Texts{ReadPrompt()};
  const Texts& texts = has_many_texts() ? ReadTexts() : one;
  for (const auto& tokens : texts) {
    std::vector<float> embedding = sequence.Embed(tokens, settings_.normalize);
    evaluated_tokens_ += tokens.size();
    if (settings_.rerank) embedding.resize(1);  // as llama.cpp's server: the first label's
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
  // Many times the prompt, and so charged before it is there.
  text_ = backend::Reservation(model_.host().services(), account_);
  text_.Resize(BytesOfPieces(model_, tokens, gate_));
  completion_ = PiecesAsJson(model_, tokens, gate_);
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

// A context that shifts has no end, and so has its text.
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

void Context::Compute() {
  EndGeneration();
  Generation::End end = Generation::End::kNone;
  try {
    const backend::GateScope scope(&gate_);
    BeginGeneration();
    while (end == Generation::End::kNone) end = StepInside();
  } catch (...) {
    generation_.reset();
    throw;
  }
  generation_.reset();
  has_output_ = true;
  if (end == Generation::End::kFull) {
    throw Error(WASINN_CONTEXT_FULL, fmt::format("the context of {} tokens is full", sequence_->capacity()));
  }
}

void Context::Step() {
  Generation::End end = Generation::End::kNone;
  has_piece_ = false;
  try {
    const backend::GateScope scope(&gate_);
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
  if (end == Generation::End::kOver) throw Error(WASINN_END_OF_SEQUENCE, "the generation has ended");
  if (end == Generation::End::kFull) {
    throw Error(WASINN_CONTEXT_FULL, fmt::format("the context of {} tokens is full", sequence_->capacity()));
  }
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
