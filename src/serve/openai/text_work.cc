#include "serve/openai/text_work.h"

#include <utility>

namespace wasinn::serve::openai {

Outcome<std::unique_ptr<Completion>> TextWork::Begin() {
  auto begun = models.Complete(tenant, model, version, std::exchange(prompt, {}), cancellation.get());
  if (begun) metrics.AddFirst(model, version, std::chrono::steady_clock::now() - asked);
  return begun;
}

Outcome<Ending> TextWork::End(Completion& completion) const {
  auto ending = ReadEnding(completion);
  if (ending) metrics.AddTokens(model, version, ending->prompt_tokens, ending->completion_tokens);
  return ending;
}

}  // namespace wasinn::serve::openai
