// A text that is sent to its client while it is generated. A worker generates, and the request's own thread writes. A
// slow client holds memory, which is charged, but no worker: generation continues, so that the model's slot is soon
// free. The worker stops early only if no memory is left.
#pragma once

#include <memory>

#include "serve/http/http_message.h"
#include "serve/openai/text_form.h"
#include "serve/openai/text_work.h"

namespace wasinn::serve::openai {

// Waits for the first event. Throws Failure.
asio::awaitable<std::unique_ptr<BodySource>> BeginTextStream(TextWork work, std::unique_ptr<TextForm> form);

}  // namespace wasinn::serve::openai
