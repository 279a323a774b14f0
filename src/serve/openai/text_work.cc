#include "serve/openai/text_work.h"

namespace wasinn::serve::openai {

Outcome<std::unique_ptr<Completion>> TextWork::Begin(size_t i) {
  begun = std::chrono::steady_clock::now();
  auto completion = models.Complete(tenant, model, version, prompts.Take(i), cancellation.get());
  first = std::chrono::steady_clock::now();
  if (completion && i == 0) metrics.AddFirst(model, version, first - asked);
  return completion;
}

Outcome<Ending> TextWork::End(Completion& completion) const {
  auto ending = ReadEnding(completion);
  if (!ending) return ending;
  metrics.AddTokens(model, version, ending->prompt_tokens, ending->completion_tokens);
  ending->prompt = first - begun;
  ending->completion = std::chrono::steady_clock::now() - first;
  return ending;
}

}  // namespace wasinn::serve::openai
