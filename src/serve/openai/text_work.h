// What a request for a text needs from its beginning to its end.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "serve/cancellation.h"
#include "serve/catalog.h"
#include "serve/completion.h"
#include "serve/memory_budget.h"
#include "serve/openai/text_form.h"
#include "serve/text_metrics.h"
#include "serve/workers.h"

namespace wasinn::serve::openai {

// All that it refers to outlives it.
struct TextWork {
  Catalog& models;
  Tenant& tenant;
  Workers& workers;
  TextMetrics& metrics;
  std::string model, version;
  Prompt prompt;
  Charge charge;  // of the prompt, and of what waits to be written
  std::shared_ptr<Cancellation> cancellation;
  std::chrono::steady_clock::time_point asked = std::chrono::steady_clock::now();

  // Its first token is there. The prompt is not needed any more. Once.
  Outcome<std::unique_ptr<Completion>> Begin();
  // After the last one.
  Outcome<Ending> End(Completion& completion) const;
};

}  // namespace wasinn::serve::openai
