// The server's current load, in Prometheus' text format.
#pragma once

#include <string>

#include "serve/models/text_models.h"
#include "serve/routes/routes.h"
#include "serve/tenants/memory_budget.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

struct LoadSources {
  const Workers& server;  // the threads for everything except guests and texts
  const Routes* routes;   // NULL: there are none
  const TextModels& texts;
  const MemoryBudget& budget;
  size_t http_connections, grpc_calls;
};
// `has_aliases`: the load of language models also under vLLM's names.
std::string LoadText(const LoadSources& sources, bool has_aliases);

}  // namespace wasinn::serve
