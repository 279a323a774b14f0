// What a request has a model go on with: a prompt, or several, and of each one text or several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "serve/completion.h"

namespace wasinn::serve::openai {

struct Prompts {
  std::vector<std::string> texts;
  std::string options;           // of all: a JSON object without a seed
  std::optional<uint32_t> seed;  // of the first text for a prompt; the next one has the next
  size_t n = 1;                  // texts for each

  size_t size() const { return n * texts.size(); }
  // Whether it has the prompt of the one before it.
  bool IsAgain(size_t i) const { return i % n > 0; }
  // Once for each, in their order. A prompt that is not needed any more goes with it.
  Prompt Take(size_t i);
  // With what Take makes of one.
  size_t bytes() const;
};

}  // namespace wasinn::serve::openai
