// The work for a text, and a text that is sent to its client while it is generated.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "serve/http/http_message.h"
#include "serve/metrics/request_metrics.h"
#include "serve/models/catalog.h"
#include "serve/openai/text_form.h"
#include "serve/openai/text_request.h"
#include "serve/tenants/memory_budget.h"
#include "serve/threads/cancellation.h"
#include "serve/threads/completion.h"
#include "serve/threads/workers.h"

namespace wasinn::serve::openai {

// The state of a request for a text, from beginning to end. Its references outlive it.
struct TextWork {
  Catalog& models;
  Tenant& tenant;
  Workers& workers;
  TextMetrics& metrics;
  std::string model, version;
  Prompts prompts;
  Charge charge;  // for the prompts
  std::shared_ptr<Cancellation> cancellation;
  std::chrono::steady_clock::time_point exchange = std::chrono::steady_clock::now(), begun, first,
                                        last;  // the last three: of a text, its first token and its last one

  // These functions throw Failure. Begins text i; called once for each, in order. The text has its first token, or with
  // progress events a part of the prompt: then ComeFirst is called once the token is there.
  std::unique_ptr<Completion> Begin(size_t i);
  void ComeFirst(size_t i);
  // Like Completion::Next.
  std::optional<std::string> Next(Completion& completion);
  // The data so far.
  Ending SoFar(Completion& completion) const;
  // Called after the last token.
  Ending End(Completion& completion) const;
};

// A worker generates, and the request's own thread writes. A slow client holds memory, which is charged, but no worker:
// generation continues, so that the model's slot is soon free. The worker stops early only if no memory is left. Waits
// for the first event. Throws Failure.
asio::awaitable<std::unique_ptr<BodySource>> BeginTextStream(TextWork work, std::unique_ptr<TextForm> form);

}  // namespace wasinn::serve::openai
