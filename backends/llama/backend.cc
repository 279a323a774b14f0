// The backend's table of functions.
#include <wasinn/backend.h>

#include "common/table.h"
#include "llama/config.h"
#include "llama/context.h"
#include "llama/host.h"
#include "llama/model.h"

const wasinn_backend* wasinn_backend_query(uint16_t host_abi_major, uint16_t /*host_abi_minor*/) {
  using namespace wasinn::llama;
  return wasinn::backend::Query<Host, Model, Context>(host_abi_major, "ggml",
                                                      {.name = "llama",
                                                       .version = WASINN_BACKEND_VERSION,
                                                       .formats = {},
                                                       .keys = Keys(),
                                                       .install = "scripts/deps.sh llama"});
}
