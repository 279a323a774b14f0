// What a request has a model go on with: a prompt, or several, and of each one text or several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "serve/openai/fields.h"
#include "serve/openai/sampling.h"
#include "serve/threads/completion.h"

namespace wasinn::serve::openai {

// That a request may ask for, of all its prompts together.
inline constexpr size_t kMostChoices = 128;

struct Prompts {
  std::vector<std::string> texts;
  std::string options;           // of all: a JSON object without a seed
  std::optional<uint32_t> seed;  // of the first text for a prompt; the next one has the next
  size_t n = 1;                  // texts for each
  // Of a stream, beside its texts:
  bool tells_progress = false;  // how far each prompt is evaluated
  bool tells_timings = false;   // with each token

  size_t size() const { return n * texts.size(); }
  // Whether it has the prompt of the one before it.
  bool IsAgain(size_t i) const { return i % n > 0; }
  // Once for each, in their order. A prompt that is not needed any more goes with it.
  Prompt Take(size_t i);
  // With what Take makes of one.
  size_t bytes() const;
};

// What a client may give for a text: it, tokens between which texts may stand, or an object that has either as `prompt_string`, or texts as
// parts of `content`.
class GivenText {
 public:
  // `name`: of the field that it is in. Throws ApiError.
  GivenText(simdjson::dom::element given, const char* name);

  bool is_tokens() const { return is_tokens_; }
  // The text itself; of tokens their list, as JSON has it.
  std::string& value() { return value_; }
  // As an element of a list in JSON.
  std::string AsJson() const;

 private:
  void ReadObject(simdjson::dom::element given, const char* name);

  std::string value_;
  bool is_tokens_ = false;
};
// Whether it is a list of such, and not one of them.
bool AreSeveral(simdjson::dom::element given);

// `prompt`: one, or a list of them. Of each of them so many texts as `n` says, of which there are no more than a request may have. Throws
// ApiError.
void ReadPrompts(Fields& fields, Prompts& prompts, Options& options);

}  // namespace wasinn::serve::openai
