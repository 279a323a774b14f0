// Prompts as tokens.
#ifndef WASINN_BACKENDS_LLAMA_PROMPT_H_
#define WASINN_BACKENDS_LLAMA_PROMPT_H_

#include <string>
#include <string_view>
#include <vector>

#include "llama/llama_library.h"
#include "llama/settings.h"

namespace wasinn::llama {

class Model;

// Throws WASINN_INVALID_ARGUMENT for a prompt that is empty or no UTF-8, or with `chat` no list of messages, and
// WASINN_PROMPT_TOO_LONG, quickly, for one of more than `capacity` tokens.
std::vector<llama_token> Tokenize(const Model& model, std::string_view prompt, const Settings& settings,
                                  size_t capacity);

// The bytes of a token; none of one that only controls.
std::string PieceOf(const Model& model, llama_token token);

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_PROMPT_H_
