// Flags of guests that answer requests: routes with what their guests get, and the program that `wasinn serve FILE` names.
#pragma once

#include <CLI/App.hpp>

#include "serve/oip/inference.h"

namespace wasinn::serve {

struct ServeOptions;

// `options` must live as long as `app`. Ports come after --addr, as they beat it.
void AddAddressFlag(CLI::App& app, ServeOptions* options);
void AddRouteFlags(CLI::App& app, ServeOptions* options);

// Checks all flags and the file together; and -S, which is for FILE.
Outcome<void> CheckRoutes(ServeOptions& options, bool has_program);

}  // namespace wasinn::serve
