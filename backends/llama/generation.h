// A completion while it grows.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "llama/chat.h"
#include "llama/probabilities.h"
#include "llama/sampler.h"
#include "llama/sequence.h"
#include "llama/settings.h"
#include "llama/state_use.h"
#include "llama/text.h"

namespace wasinn::llama {

// Used by one thread at a time.
class Generation {
 public:
  // The end: none yet; the model or the settings; no room; cancelled after the first token.
  enum class End { kNone, kOver, kFull, kCut };
  // The reason of the end: none yet; the model; a stop word; a limit of tokens or time.
  enum class Reason { kNone, kModel, kWord, kLength };

  // `sequence`, `media`, `probabilities` and `cancelled` must outlive this object. `form`: of a chat, or NULL. `media`:
  // of a prompt with images and sounds, or NULL. `probabilities`: collects those of its tokens, or NULL. `account`:
  // pays for the memory. `states`: the guest's. Throws WASINN_ERROR_NOT_FOUND for an unknown state.
  Generation(const Model& model, const Settings& settings, const ChatForm* form, std::vector<llama_token> prompt,
             MediaPrompt* media, Sequence* sequence, Probabilities* probabilities, const std::atomic<bool>& cancelled,
             void* account, GuestStates* states);
  ~Generation() { sequence_->End(); }
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  // Generates one token, and returns the text that it completes, perhaps none. Does nothing after the end. Throws
  // WASINN_ERROR_TIMEOUT if cancelled before the first token.
  End Step(std::string* piece);

  Reason reason() const { return reason_; }
  // The stop word that ended it; "": none.
  const std::string& stop_word() const { return writer_.stop_word(); }
  // Whether it ended without room.
  bool is_full() const { return end_ == End::kFull; }
  // The token of the last step; empty: none, or the one that ends a text.
  std::optional<llama_token> step_token() const { return step_token_; }
  uint64_t output_tokens() const { return output_tokens_; }
  // Tokens of the prompt that the sequence did not hold.
  uint64_t evaluated_tokens() const { return evaluated_tokens_; }
  // Tokens of the prompt that are evaluated by now.
  uint64_t held_prompt() const { return prompt_size_ - left_.size(); }
  // Tokens of the prompt that came from a state.
  uint64_t restored_tokens() const { return restored_tokens_; }
  // The number of shifts, and of the tokens that they discarded.
  uint64_t shifts() const { return shifts_; }
  uint64_t discarded_tokens() const { return discarded_tokens_; }

 private:
  End Next(std::string* piece);
  // A cancel loses no text: neither finished text nor held-back text, such as half a stop word.
  End Cut(std::string* piece);
  // The last piece; the next step returns `end`.
  End Last(End end, Reason reason, std::string* piece);
  // The tokens of the prompt that are left to evaluate.
  std::span<const llama_token> Begin();
  // Evaluates a part of the prompt, if another part follows it.
  bool EvaluatePart();
  // Discards a part of the text, if there is no room and the settings allow it. False: there is no room.
  bool MakeRoom();

  const Model& model_;
  MediaPrompt* const media_;
  Sequence* const sequence_;
  Probabilities* const probabilities_;
  const int32_t predict_;
  const bool reuse_;
  const size_t part_;  // tokens of the prompt in a step
  const size_t prompt_size_;
  const StateUse states_;
  const bool shift_;
  const size_t keep_;  // tokens of the prompt
  Sampler sampler_;
  const std::vector<llama_token> stop_tokens_;
  const std::set<llama_token> preserved_;  // tokens whose names belong to the text
  PieceWriter writer_;
  std::vector<llama_token> next_;      // to be evaluated
  std::span<const llama_token> left_;  // their rest, if they are the prompt
  size_t held_ = 0;                    // tokens of the sequence afterwards
  bool begun_ = false;
  End end_ = End::kNone;
  Reason reason_ = Reason::kNone;
  std::optional<llama_token> step_token_;
  uint64_t output_tokens_ = 0;
  uint64_t evaluated_tokens_ = 0;
  uint64_t restored_tokens_ = 0;
  uint64_t shifts_ = 0;
  uint64_t discarded_tokens_ = 0;
};

}  // namespace wasinn::llama
