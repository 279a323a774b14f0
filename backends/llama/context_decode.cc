// Contexts of guests that choose tokens themselves. The guest passes the whole text each time, and the tokens that the
// sequence already holds are not evaluated again: earlier calls do not change the results.
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "common/throw.h"
#include "llama/context.h"
#include "llama/logits.h"
#include "llama/state_use.h"

namespace wasinn::llama {

using backend::Throw;

namespace {

constexpr size_t kMostOutputs = 64;  // of one batch: the memory is allocated in any case

void CheckTokens(std::span<const llama_token> tokens, size_t vocabulary) {
  const auto most = static_cast<llama_token>(vocabulary);
  const auto wrong = std::ranges::find_if(tokens, [most](llama_token one) { return one < 0 || one >= most; });
  if (wrong == tokens.end()) return;
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "tokens: number {} is {}: the model has 0 to {}", wrong - tokens.begin(), *wrong,
        most - 1);
}

// JSON cannot express NaN and infinities.
std::string NumbersAsJson(std::span<const float> numbers) {
  std::string json;
  for (const float number : numbers) {
    json += json.empty() ? "[" : ",";
    json += std::isfinite(number) ? fmt::format("{}", number) : "null";
  }
  return json.empty() ? "[]" : json + "]";
}

}  // namespace

const std::vector<llama_token>& Context::ReadText() {
  static const std::vector<llama_token> none;
  const std::vector<llama_token>& prompt = prompt_.empty() && !chosen_.empty() ? none : ReadPrompt();
  const size_t all = prompt.size() + chosen_.size();
  if (all > settings_.context) {
    Throw(WASINN_ERROR_PROMPT_TOO_LONG, "the prompt and the tokens after it are {} tokens: the context has {}", all,
          settings_.context);
  }
  text_tokens_.assign(prompt.begin(), prompt.end());
  text_tokens_.insert(text_tokens_.end(), chosen_.begin(), chosen_.end());
  // Checks the copy: another thread of the guest may write to its own memory.
  CheckTokens(std::span(text_tokens_).subspan(prompt.size()), model_.vocabulary_size());
  return text_tokens_;
}

// Few sizes, because each new size needs a new llama context.
uint32_t Context::OutputsForDecode() const {
  const size_t rows = text_tokens_.size() - FirstRow();
  return static_cast<uint32_t>(std::min(std::bit_ceil(rows), kMostOutputs));
}

size_t Context::FirstRow() const {
  const size_t last = text_tokens_.size() - 1;
  if (!settings_.decode.position) return last;
  if (*settings_.decode.position <= last) return *settings_.decode.position;
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "position: expected one of the text's tokens, 0 to {}: found {}", last,
        *settings_.decode.position);
}

void Context::Decode() {
  const std::span<const llama_token> text = text_tokens_;
  const size_t first = FirstRow(), rows = text.size() - first;
  logits_ = std::make_unique<Logits>(model_, rows, static_cast<size_t>(settings_.decode.top), max_bytes_, account_);
  // Tokens whose logits are wanted are evaluated again even if held.
  const auto beginning = text.first(first + 1);
  const StateUse states(model_, settings_, *sequence_, beginning, {}, states_.get(), account_);
  try {
    const Sequence::Begun begun = sequence_->Begin(beginning, nullptr, settings_.cache_prompt, states.state());
    restored_tokens_ = begun.is_restored ? begun.kept : 0;
    evaluated_tokens_ = text.size() - begun.kept;
    sequence_->Evaluate(text.subspan(begun.kept), logits_.get(), rows);
    states.Save(sequence_.get());
  } catch (...) {
    sequence_->End();
    throw;
  }
  sequence_->Rest();
  logits_->Finish();
  completion_ = fmt::format(R"({{"n_prompt":{},"n_tokens":{},"n_evaluated":{},"log_sums":{},"end_tokens":[{}]}})",
                            text.size() - chosen_.size(), text.size(), evaluated_tokens_,
                            NumbersAsJson(logits_->log_sums()), fmt::join(model_.end_tokens(), ","));
}

void Context::ViewLogits(wasinn_tensor* view) {
  if (logits_ == nullptr) return ViewNumbers(WASINN_DTYPE_F32, kNoShape, {}, view);
  ViewNumbers(WASINN_DTYPE_F32, logits_->shape(), std::as_bytes(logits_->values()), view);
}

void Context::ViewLogitTokens(wasinn_tensor* view) {
  if (logits_ == nullptr || logits_->tokens().empty()) return ViewNumbers(WASINN_DTYPE_I32, kNoShape, {}, view);
  ViewNumbers(WASINN_DTYPE_I32, logits_->shape(), std::as_bytes(logits_->tokens()), view);
}

}  // namespace wasinn::llama
