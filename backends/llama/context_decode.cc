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
#include "llama/own_sequence.h"
#include "llama/state_use.h"

namespace wasinn::llama {

using backend::Throw;

namespace {

constexpr size_t kMaxOutputs = 64;  // of one batch, and texts at once: the memory is allocated in any case

// `number`: the first one's.
void CheckTokens(std::span<const llama_token> tokens, size_t number, size_t vocabulary) {
  const auto most = static_cast<llama_token>(vocabulary);
  const auto wrong = std::ranges::find_if(tokens, [most](llama_token one) { return one < 0 || one >= most; });
  if (wrong == tokens.end()) return;
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "tokens: number {} is {}: the model has 0 to {}",
        number + static_cast<size_t>(wrong - tokens.begin()), *wrong, most - 1);
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

size_t Context::ReadBranches() {
  static const std::vector<llama_token> none;
  const std::vector<llama_token>& prompt = prompt_.empty() && !chosen_.empty() ? none : ReadPrompt();
  const size_t length = chosen_.size() / chosen_rows_, all = prompt.size() + length;
  if (all > settings_.context) {
    Throw(WASINN_ERROR_PROMPT_TOO_LONG, "the prompt and the tokens after it are {} tokens: the context has {}", all,
          settings_.context);
  }
  if (chosen_rows_ > 1) CheckBranches();
  branches_.clear();  // longer ones would keep memory that is not charged any more
  branches_reservation_.Resize((chosen_rows_ - 1) * all * sizeof(llama_token));
  branches_.resize(chosen_rows_);
  for (size_t i = 0; i < chosen_rows_; ++i) {
    const auto row = chosen_.subspan(i * length, length);
    branches_[i].reserve(all);
    branches_[i].assign(prompt.begin(), prompt.end());
    branches_[i].insert(branches_[i].end(), row.begin(), row.end());
    // Checks the copy: another thread of the guest may write to its own memory.
    CheckTokens(std::span(branches_[i]).subspan(prompt.size()), i * length, model_.vocabulary_size());
  }
  return all;
}

void Context::CheckBranches() const {
  if (chosen_rows_ > kMaxOutputs) {
    Throw(WASINN_ERROR_TOO_LARGE, "tokens: expected at most {} texts at once: found {}", kMaxOutputs, chosen_rows_);
  }
  if (model_.recurrent()) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "tokens: a recurrent model has one text at once: found {}", chosen_rows_);
  }
  if (!settings_.decode.position && settings_.state.save.empty()) return;
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "position, save-state: expected one text in tokens: found {}", chosen_rows_);
}

// Few sizes, because each new size needs a new llama context.
uint32_t Context::OutputsForDecode() const {
  const size_t rows = std::max(branches_.size(), branches_.front().size() - FirstRow());
  return static_cast<uint32_t>(std::min(std::bit_ceil(rows), kMaxOutputs));
}

size_t Context::FirstRow() const {
  const size_t last = branches_.front().size() - 1;
  if (!settings_.decode.position) return last;
  if (*settings_.decode.position <= last) return *settings_.decode.position;
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "position: expected one of the text's tokens, 0 to {}: found {}", last,
        *settings_.decode.position);
}

void Context::Decode() {
  const std::span<const llama_token> text = branches_.front();
  const bool is_one = branches_.size() == 1;
  const size_t first = FirstRow(), rows = is_one ? text.size() - first : branches_.size();
  logits_ = std::make_unique<Logits>(model_, rows, static_cast<size_t>(settings_.decode.top), max_bytes_, account_);
  // Tokens whose logits are wanted are evaluated again even if held.
  const auto beginning = text.first(first + 1);
  const StateUse states(model_, settings_, *sequence_, beginning, {}, states_.get(), account_);
  try {
    if (is_one) {
      const Sequence::Begun begun = sequence_->Begin(beginning, nullptr, settings_.cache_prompt, states.state());
      restored_tokens_ = begun.is_restored ? begun.kept : 0;
      evaluated_tokens_ = text.size() - begun.kept;
      sequence_->Evaluate(text.subspan(begun.kept), logits_.get(), rows);
      states.Save(sequence_.get());
    } else {
      const OwnSequence::Evaluated evaluated =
          static_cast<OwnSequence&>(*sequence_)
              .EvaluateBranches(branches_, settings_.cache_prompt, states.state(), logits_.get());
      restored_tokens_ = evaluated.restored;
      evaluated_tokens_ = evaluated.tokens;
    }
  } catch (...) {
    sequence_->End();
    throw;
  }
  sequence_->Rest();
  logits_->Finish();
  completion_ = fmt::format(R"({{"n_prompt":{},"n_tokens":{},"n_evaluated":{},"log_sums":{},"end_tokens":[{}]}})",
                            text.size() - chosen_.size() / chosen_rows_, text.size(), evaluated_tokens_,
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
