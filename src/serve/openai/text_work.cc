#include "serve/openai/text_work.h"

#include <utility>

namespace wasinn::serve::openai {

std::unique_ptr<Completion> TextWork::Begin(size_t i) {
  begun = std::chrono::steady_clock::now();
  last = {};
  auto completion = OrThrow(models.Complete(tenant, model, version, prompts.Take(i), cancellation.get()));
  first = std::chrono::steady_clock::now();
  if (!prompts.wants_progress) ComeFirst(i);
  return completion;
}

void TextWork::ComeFirst(size_t i) {
  first = last = std::chrono::steady_clock::now();
  if (i == 0) metrics.AddFirst(model, version, first - exchange);
}

std::optional<std::string> TextWork::Next(Completion& completion) {
  const bool is_first = !completion.has_begun();
  auto piece = completion.Next();
  if (!piece || is_first || last == decltype(last)()) return piece;
  const auto now = std::chrono::steady_clock::now();
  metrics.AddNext(model, version, now - std::exchange(last, now));
  return piece;
}

Ending TextWork::SoFar(Completion& completion) const {
  Ending ending = ReadEnding(completion);
  ending.prompt = first - begun;
  ending.completion = std::chrono::steady_clock::now() - first;
  return ending;
}

Ending TextWork::End(Completion& completion) const {
  Ending ending = SoFar(completion);
  metrics.AddTokens(model, version, ending.prompt_tokens, ending.completion_tokens);
  return ending;
}

}  // namespace wasinn::serve::openai
