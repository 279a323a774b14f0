// Flags of guests that answer requests: routes with their guests' grants, and the program of `wasinn serve FILE`.
#pragma once

#include <CLI/App.hpp>

#include "serve/oip/inference.h"

namespace wasinn::serve {

struct ServeOptions;

// `options` must live as long as `app`. Flags for ports must come after --addr, which they override.
void AddAddressFlag(CLI::App& app, ServeOptions* options);
void AddRouteFlags(CLI::App& app, ServeOptions* options);

// Checks all flags and the file together; and -S, which is for FILE.
void CheckRoutes(ServeOptions& options, bool has_program);

}  // namespace wasinn::serve
