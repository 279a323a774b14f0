// The prompts of a request, and the number of texts for each.
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

// The limit of the texts of all prompts of a request.
inline constexpr size_t kMaxChoices = 128;

struct Prompts {
  std::vector<std::string> texts;
  std::string options;           // for all prompts: a JSON object without a seed
  std::optional<uint32_t> seed;  // for a prompt's first text; each further text adds 1
  size_t n = 1;                  // texts for each prompt
  // Additional events of a stream:
  bool wants_progress = false;  // how far each prompt is evaluated
  bool wants_timings = false;   // with each token

  size_t size() const { return n * texts.size(); }
  // Whether text i has the same prompt as the one before it.
  bool IsAgain(size_t i) const { return i % n > 0; }
  // Called once for each, in order. Frees a prompt after its last text.
  Prompt Take(size_t i);
  // Including the memory for the result of Take.
  size_t bytes() const;
};

// A client's text: a string, a list of tokens and strings, or an object with either as `prompt_string`, or with texts
// as parts of `content`.
class GivenText {
 public:
  // `name`: the field. Throws ApiError.
  GivenText(simdjson::dom::element given, const char* name);

  bool is_tokens() const { return is_tokens_; }
  // The text itself, or a list of tokens as JSON.
  std::string& value() { return value_; }
  // As an element of a JSON list.
  std::string AsJson() const;

 private:
  void ReadObject(simdjson::dom::element given, const char* name);

  std::string value_;
  bool is_tokens_ = false;
};
// Whether it is a list of such texts.
bool AreSeveral(simdjson::dom::element given);

// `prompt`: a text or a list of texts. `n`: texts for each, within the request's limit. Throws ApiError.
void ReadPrompts(Fields& fields, Prompts& prompts, Options& options);

}  // namespace wasinn::serve::openai
