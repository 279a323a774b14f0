// What a request for a text needs from its beginning to its end.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "serve/metrics/text_metrics.h"
#include "serve/models/catalog.h"
#include "serve/openai/prompts.h"
#include "serve/openai/text_form.h"
#include "serve/tenants/memory_budget.h"
#include "serve/threads/cancellation.h"
#include "serve/threads/completion.h"
#include "serve/threads/workers.h"

namespace wasinn::serve::openai {

// All that it refers to outlives it.
struct TextWork {
  Catalog& models;
  Tenant& tenant;
  Workers& workers;
  TextMetrics& metrics;
  std::string model, version;
  Prompts prompts;
  Charge charge;  // of the prompts
  std::shared_ptr<Cancellation> cancellation;
  std::chrono::steady_clock::time_point exchange = std::chrono::steady_clock::now(), begun, first,
                                        last;  // the last three: of a text, its first token and its last one

  // The text of a prompt, each once and in their order. Its first token is there, or with `tells_progress` a part of the prompt: then
  // ComeFirst is called once the token is.
  Outcome<std::unique_ptr<Completion>> Begin(size_t i);
  void ComeFirst(size_t i);
  // As of the completion.
  Outcome<std::optional<std::string>> Next(Completion& completion);
  // Of what came by now.
  Outcome<Ending> SoFar(Completion& completion) const;
  // After its last one.
  Outcome<Ending> End(Completion& completion) const;
};

}  // namespace wasinn::serve::openai
