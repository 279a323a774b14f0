// A completion as it grows.
#ifndef WASINN_BACKENDS_LLAMA_GENERATION_H_
#define WASINN_BACKENDS_LLAMA_GENERATION_H_

#include <string>
#include <vector>

#include "llama/sampler.h"
#include "llama/sequence.h"
#include "llama/settings.h"
#include "llama/text.h"

namespace wasinn::llama {

// One thread at a time.
class Generation {
 public:
  // Its end: none yet; the model or the settings say so; there is no room for more.
  enum class End { kNone, kOver, kFull };

  // `sequence` is used until this goes. `account`: who pays for what it keeps.
  Generation(const Model& model, const Settings& settings, std::vector<llama_token> prompt, Sequence* sequence,
             void* account);
  ~Generation() { sequence_->End(); }
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  // One token more, and the text that it completes, which may be empty. Nothing happens after the end.
  End Step(std::string* piece);

  uint64_t output_tokens() const { return output_tokens_; }
  // Of the prompt, those that the sequence did not hold already.
  uint64_t evaluated_tokens() const { return evaluated_tokens_; }

 private:
  // The last piece: what comes after it is `end`.
  End Last(End end, std::string* piece);

  const Model& model_;
  Sequence* const sequence_;
  const int32_t predict_;
  const bool reuse_;
  Sampler sampler_;
  PieceWriter writer_;
  std::vector<llama_token> next_;  // to be evaluated
  size_t held_ = 0;                // tokens that the sequence has then
  bool begun_ = false;
  End end_ = End::kNone;
  uint64_t output_tokens_ = 0;
  uint64_t evaluated_tokens_ = 0;
};

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_GENERATION_H_
