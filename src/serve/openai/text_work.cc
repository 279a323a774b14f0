#include "serve/openai/text_work.h"

namespace wasinn::serve::openai {

Outcome<std::unique_ptr<Completion>> TextWork::Begin(size_t i) {
  begun = std::chrono::steady_clock::now();
  auto completion = models.Complete(tenant, model, version, prompts.Take(i), cancellation.get());
  first = std::chrono::steady_clock::now();
  if (completion && !prompts.tells_progress) ComeFirst(i);
  return completion;
}

void TextWork::ComeFirst(size_t i) {
  first = std::chrono::steady_clock::now();
  if (i == 0) metrics.AddFirst(model, version, first - asked);
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
