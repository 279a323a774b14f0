// The backend's table of functions.
#include <wasinn/backend.h>

#include "common/table.h"
#include "openvino/config.h"
#include "openvino/context.h"
#include "openvino/host.h"
#include "openvino/model.h"

namespace wasinn::openvino {

namespace {

// Models of other formats are loaded too where a host says so by name (source.h); they are other backends' own.
constexpr wasinn_format kFormat = {.struct_size = sizeof(wasinn_format), .name = "openvino"};
constexpr const wasinn_format* kFormats[] = {&kFormat};

const wasinn_backend* Table() {
  static const wasinn_backend table =
      backend::TableOf<Host, Model, Context>::Make({.name = "openvino",
                                                    .version = WASINN_BACKEND_VERSION,
                                                    .formats = kFormats,
                                                    .keys = Keys(),
                                                    .install = "scripts/deps.sh openvino",
                                                    .bind_align = 1});
  return &table;
}

}  // namespace

}  // namespace wasinn::openvino

const wasinn_backend* wasinn_backend_query(uint16_t host_abi_major, uint16_t /*host_abi_minor*/) {
  return host_abi_major == WASINN_BACKEND_ABI_MAJOR ? wasinn::openvino::Table() : nullptr;
}
