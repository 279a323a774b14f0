// Reads a context's inputs, options and prompt.
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/config.h"
#include "common/throw.h"
#include "llama/context.h"
#include "llama/media_request.h"
#include "llama/prompt.h"
#include "llama/token_lists.h"

namespace wasinn::llama {

using backend::Config;
using backend::Throw;

namespace {

constexpr uint32_t kPromptIndex = 0, kOptionsIndex = 1, kTokensIndex = 2, kInputCount = 3;
constexpr int kMaxWarnings = 16;
constexpr size_t kMaxKeysNamed = 8, kLongestKeyNamed = 40;
// Parsed options take many times their bytes. The same limit as for configurations.
constexpr size_t kMaxOptions = size_t{256} << 10;
// llama.cpp tokenizes a text in one call, which cannot be interrupted.
constexpr size_t kMaxTokenizedBytes = size_t{1} << 20;

// Text of a guest, for the log.
std::string Printable(std::string_view text) {
  std::string printable(text.substr(0, kLongestKeyNamed));
  std::ranges::replace_if(printable, [](char c) { return c < ' ' || c > '~'; }, '?');
  return printable;
}

// Refuses keys that would make answers wrong if they were ignored: an image that was not seen, text instead of sound.
void RefuseKeys(const Config& options, bool has_projector) {
  const auto is_given = [&options](const char* key) { return !options.String(key).value_or("").empty(); };
  if (is_given("mmproj") && !has_projector) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
          "mmproj: only the host can name a projector (\"projector\"), and this model has none");
  }
  if (is_given("image")) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
          "image: no file is opened for a guest: images are parts of messages or of the prompt, as data: URLs");
  }
  if (options.Bool("tts").value_or(false)) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "tts: speech models are not supported");
  }
}

}  // namespace

void Context::BindInput(uint32_t index, const wasinn_tensor& tensor) {
  if (index >= kInputCount) Throw(WASINN_ERROR_INVALID_ARGUMENT, "input {}: the model has {}", index, kInputCount);
  UnbindInput(index);
  if (index == kTokensIndex) {
    chosen_ = {static_cast<const llama_token*>(tensor.data), tensor.bytes / sizeof(llama_token)};
    chosen_rows_ = tensor.rank == 2 && !chosen_.empty() ? static_cast<size_t>(tensor.dims[0]) : 1;
    return;
  }
  if (index == kOptionsIndex && tensor.bytes > kMaxOptions) {
    Throw(WASINN_ERROR_TOO_LARGE, "options of {} bytes are longer than the limit of {}", tensor.bytes, kMaxOptions);
  }
  const std::string_view text(static_cast<const char*>(tensor.data), tensor.bytes);
  (index == kPromptIndex ? prompt_ : options_) = text;
}

void Context::UnbindInput(uint32_t index) {
  EndGeneration();
  if (index == kTokensIndex) {
    chosen_ = {};
    chosen_rows_ = 1;
    return;
  }
  tokens_.reset();
  media_.reset();
  texts_.clear();
  texts_reservation_.Resize(0);
  (index == kPromptIndex ? prompt_ : options_) = {};
  if (index == kOptionsIndex) options_read_ = false;  // read when needed, because this function must not fail
}

void Context::ReadOptions() {
  if (options_read_) return;
  if (options_.find('\0') != std::string::npos) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "options: expected the text of a JSON object, found a byte 0");
  }
  const Config options(std::string(options_).c_str(), "options");
  // Each options input replaces the previous one.
  Settings settings = base_;
  settings.Apply(options, model_.config().limits, model_.config().loras);
  CheckKeys(options, "options");
  settings_ = std::move(settings);
  options_read_ = true;
}

void Context::CheckKeys(const Config& options, const char* where) {
  RefuseKeys(options, model_.projector() != nullptr);
  std::vector<std::string> unknown;
  for (const std::string& key : options.Keys()) {
    if (!IsGuestKey(key) && unknown.size() < kMaxKeysNamed) unknown.push_back(Printable(key));
  }
  std::string warning;
  if (!unknown.empty()) warning += fmt::format("unknown keys: {}", fmt::join(unknown, ", "));
  // Many programs give the model's whole configuration again.
  if (const auto layers = options.Integer("n-gpu-layers", -1, INT32_MAX);
      layers && *layers != model_.config().gpu_layers) {
    warning += fmt::format("{}n-gpu-layers: applies only when a model is loaded", warning.empty() ? "" : "; ");
  }
  if (!warning.empty()) Warn(fmt::format("{}: {}", where, warning));
}

void Context::Warn(std::string warning) {
  if (warning == warned_ || ++warnings_ > kMaxWarnings) return;
  model_.host().log().Write(WASINN_LOG_WARNING, warning);
  warned_ = std::move(warning);
}

const std::vector<llama_token>& Context::ReadPrompt() {
  ReadOptions();
  if (tokens_) return *tokens_;
  chat_.reset();
  media_.reset();
  if (settings_.detokenize) return tokens_.emplace(ParseTokens(model_, prompt_, kMaxListed, account_));
  if (settings_.tokens) {
    return tokens_.emplace(ParseMixed(
        model_, prompt_,
        {.most = settings_.context, .whole = settings_.add_special, .account = account_, .cancelled = &cancelled_}));
  }
  if (settings_.chat) {
    const std::optional<MediaMessages> media = MediaMessages::Take(prompt_);
    if (media && model_.projector() == nullptr) {
      Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "the model accepts no images or sounds: it has no projector");
    }
    chat_ = std::make_unique<Chat>(model_, media ? std::string_view(media->text()) : prompt_, settings_, cancelled_,
                                   account_);
    if (media) return ReadMedia(media->Split(chat_->form().prompt));
  } else if (model_.projector() != nullptr) {
    const std::vector<MediaPart> parts = SplitAtTags(prompt_);
    if (parts.size() > 1) return ReadMedia(parts);
  }
  const std::string_view text = chat_ == nullptr ? prompt_ : std::string_view(chat_->form().prompt);
  if (settings_.tokenize && text.size() > kMaxTokenizedBytes) {
    Throw(WASINN_ERROR_PROMPT_TOO_LONG, "tokenize: the prompt has {} bytes: no more than {} are allowed", text.size(),
          kMaxTokenizedBytes);
  }
  const backend::Reservation meanwhile = ReserveForTokens(model_, account_, text.size());
  const size_t most = settings_.tokenize ? kMaxListed : settings_.context;
  tokens_ = Tokenize(model_, text, most, settings_.add_special);
  return *tokens_;
}

const std::vector<llama_token>& Context::ReadMedia(std::span<const MediaPart> parts) {
  if (settings_.tokenize || settings_.embedding || settings_.decode.on) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "tokenize, embedding, decode: expected a text without images and sounds");
  }
  size_t texts = 0;
  for (const MediaPart& part : parts) texts += part.kind == MediaPart::Kind::kText ? part.data.size() : 0;
  const backend::Reservation meanwhile = ReserveForTokens(model_, account_, texts);
  media_ = std::make_unique<MediaPrompt>(model_, parts, settings_.context, cancelled_, account_);
  return tokens_.emplace(media_->tokens());
}

const Texts& Context::ReadTexts() {
  if (!texts_.empty()) return texts_;
  backend::Reservation reservation(model_.host().services(), account_);
  const CallBounds bounds = {.cancelled = &cancelled_, .reservation = &reservation};
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
  if (settings_.decode.on) return ReadBranches();
  if (!has_many_texts()) return ReadPrompt().size();
  const auto by_size = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  return std::ranges::max_element(ReadTexts(), by_size)->size();
}

uint64_t Context::InputTokens() const {
  if (settings_.decode.on && has_output_ && !branches_.empty()) return branches_.front().size();
  uint64_t tokens = tokens_ ? tokens_->size() : 0;
  for (const auto& text : texts_) tokens += text.size();
  return tokens;
}

}  // namespace wasinn::llama
