// A completion as it grows.
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

// One thread at a time.
class Generation {
 public:
  // Its end: none yet; the model or the settings say so; there is no room for more; it was cancelled after its first
  // token.
  enum class End { kNone, kOver, kFull, kCut };
  // Why it has ended: the model has said so; a stop word has come; a limit of tokens or of time; not yet.
  enum class Reason { kNone, kModel, kWord, kLength };

  // `sequence`, `media`, `probabilities` and `cancelled` are used until this goes. `form`: of a chat, or NULL. `media`: the prompt
  // with its images and sounds, or NULL. `probabilities`: where those of its tokens are told, or NULL. `account`: who
  // pays for what it keeps. `states`: the guest's. Throws WASINN_ERROR_NOT_FOUND for a state that is none of them.
  Generation(const Model& model, const Settings& settings, const ChatForm* form, std::vector<llama_token> prompt,
             MediaPrompt* media, Sequence* sequence, Probabilities* probabilities, const std::atomic<bool>& cancelled,
             void* account, GuestStates* states);
  ~Generation() { sequence_->End(); }
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  // One token more, and the text that it completes, which may be empty. Nothing happens after the end. Throws
  // WASINN_ERROR_TIMEOUT if it was cancelled before its first token.
  End Step(std::string* piece);

  Reason reason() const { return reason_; }
  // The stop word that has ended it; "": none has.
  const std::string& stop_word() const { return writer_.stop_word(); }
  // Whether it has ended because there is no room for more.
  bool is_full() const { return end_ == End::kFull; }
  // Of the last step; nothing: it brought none, or the one that ends a text.
  std::optional<llama_token> step_token() const { return step_token_; }
  uint64_t output_tokens() const { return output_tokens_; }
  // Of the prompt, those that the sequence did not hold already.
  uint64_t evaluated_tokens() const { return evaluated_tokens_; }
  // Of the prompt, those that are held by now.
  uint64_t held_prompt() const { return prompt_size_ - left_.size(); }
  // Of the prompt, those that came from a state.
  uint64_t restored_tokens() const { return restored_tokens_; }
  // How often a part of the text was forgotten, and of how many tokens.
  uint64_t shifts() const { return shifts_; }
  uint64_t discarded_tokens() const { return discarded_tokens_; }

 private:
  End Next(std::string* piece);
  // A cancel loses no text: neither what was made before nor what waited for more, such as half a stop word.
  End Cut(std::string* piece);
  // The last piece: what comes after it is `end`.
  End Last(End end, Reason reason, std::string* piece);
  // The tokens of the prompt that are not held yet.
  std::span<const llama_token> Begin();
  // Evaluates a part of the prompt, if another part follows it.
  bool EvaluatePart();
  // Forgets a part of the text, if there is no room and the settings say so. False: there is no room.
  bool MakeRoom();

  const Model& model_;
  MediaPrompt* const media_;
  Sequence* const sequence_;
  Probabilities* const probabilities_;
  const int32_t predict_;
  const bool reuse_;
  const size_t part_;  // tokens of the prompt for a step
  const size_t prompt_size_;
  const StateUse states_;
  const bool shift_;
  const size_t keep_;  // tokens of the prompt
  Sampler sampler_;
  const std::vector<llama_token> stop_tokens_;
  const std::set<llama_token> preserved_;  // those whose names are a part of the text
  PieceWriter writer_;
  std::vector<llama_token> next_;      // to be evaluated
  std::span<const llama_token> left_;  // of these, if they are the prompt
  size_t held_ = 0;                    // tokens that the sequence has then
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
