#include "serve/openai/prompts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace wasinn::serve::openai {

Prompt Prompts::Take(size_t i) {
  const bool is_last = (i + 1) % n == 0;
  std::string& text = texts[i / n];
  Prompt prompt{.prompt = is_last ? std::exchange(text, {}) : text, .options = options};
  if (seed) {
    prompt.options.pop_back();
    prompt.options +=
        fmt::format(R"({}"seed":{}}})", options.size() > 2 ? "," : "", *seed + static_cast<uint32_t>(i % n));
  }
  return prompt;
}

size_t Prompts::bytes() const {
  size_t all = options.size(), largest = 0;
  for (const std::string& text : texts) {
    all += text.size();
    largest = std::max(largest, text.size());
  }
  return all + (n > 1 ? largest : 0) + options.size();
}

}  // namespace wasinn::serve::openai
