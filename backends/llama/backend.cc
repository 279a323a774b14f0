// The backend's table of functions.
#include <wasinn/backend.h>

#include "common/table.h"
#include "llama/config.h"
#include "llama/context.h"
#include "llama/host.h"
#include "llama/model.h"

namespace wasinn::llama {

namespace {

constexpr wasinn_format kFormat = {.struct_size = sizeof(wasinn_format), .name = "ggml"};
constexpr const wasinn_format* kFormats[] = {&kFormat};

const wasinn_backend* Table() {
  static const wasinn_backend table =
      backend::TableOf<Host, Model, Context>::Make({.name = "llama",
                                                    .version = WASINN_BACKEND_VERSION,
                                                    .formats = kFormats,
                                                    .keys = Keys(),
                                                    .install = "scripts/deps.sh llama"});
  return &table;
}

}  // namespace

}  // namespace wasinn::llama

const wasinn_backend* wasinn_backend_query(uint16_t host_abi_major, uint16_t /*host_abi_minor*/) {
  return host_abi_major == WASINN_BACKEND_ABI_MAJOR ? wasinn::llama::Table() : nullptr;
}
