// What the server has to do now, in Prometheus' text format.
#pragma once

#include <string>

#include "serve/models/text_models.h"
#include "serve/routes/routes.h"
#include "serve/tenants/memory_budget.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

struct LoadSources {
  const Workers& server;  // the threads that all but guests and texts share
  const Routes* routes;   // NULL: there are none
  const TextModels& texts;
  const MemoryBudget& budget;
  size_t http_connections, grpc_calls;
};
// `has_aliases`: what language models have to do, also by vLLM's names.
std::string LoadText(const LoadSources& sources, bool has_aliases);

}  // namespace wasinn::serve
