// How many requests run and wait, in Prometheus' text format.
#pragma once

#include <string>

#include "serve/routes.h"
#include "serve/text_models.h"
#include "serve/workers.h"

namespace wasinn::serve {

// `server`: the threads that all but guests and texts share. `routes`: NULL: there are none.
std::string LoadText(const Workers& server, const Routes* routes, const TextModels& texts);

}  // namespace wasinn::serve
