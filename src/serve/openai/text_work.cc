#include "serve/openai/text_work.h"

#include <utility>

namespace wasinn::serve::openai {

Outcome<std::unique_ptr<Completion>> TextWork::Begin(size_t i) {
  begun = std::chrono::steady_clock::now();
  last = {};
  auto completion = models.Complete(tenant, model, version, prompts.Take(i), cancellation.get());
  first = std::chrono::steady_clock::now();
  if (completion && !prompts.wants_progress) ComeFirst(i);
  return completion;
}

void TextWork::ComeFirst(size_t i) {
  first = last = std::chrono::steady_clock::now();
  if (i == 0) metrics.AddFirst(model, version, first - exchange);
}

Outcome<std::optional<std::string>> TextWork::Next(Completion& completion) {
  const bool is_first = !completion.has_begun();
  auto piece = completion.Next();
  const bool is_token = piece && *piece && !is_first && last != decltype(last)();
  if (!is_token) return piece;
  const auto now = std::chrono::steady_clock::now();
  metrics.AddNext(model, version, now - std::exchange(last, now));
  return piece;
}

Outcome<Ending> TextWork::SoFar(Completion& completion) const {
  auto ending = ReadEnding(completion);
  if (!ending) return ending;
  ending->prompt = first - begun;
  ending->completion = std::chrono::steady_clock::now() - first;
  return ending;
}

Outcome<Ending> TextWork::End(Completion& completion) const {
  auto ending = SoFar(completion);
  if (ending) metrics.AddTokens(model, version, ending->prompt_tokens, ending->completion_tokens);
  return ending;
}

}  // namespace wasinn::serve::openai
