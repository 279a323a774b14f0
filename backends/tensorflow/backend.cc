// The backend's table of functions.
#include "common/table.h"
#include "tensorflow/context.h"

static constexpr wasinn_format kFormat = {.struct_size = sizeof(wasinn_format), .name = "tensorflow"};
static constexpr const wasinn_format* kFormats[] = {&kFormat};

const wasinn_backend* wasinn_backend_query(uint16_t host_abi_major, uint16_t /*host_abi_minor*/) {
  using namespace wasinn::tensorflow;
  static const wasinn_backend table =
      wasinn::backend::TableOf<Host, Model, Context>::Make({.name = "tensorflow",
                                                            .version = WASINN_BACKEND_VERSION,
                                                            .formats = kFormats,
                                                            .keys = Keys(),
                                                            .install = "scripts/deps.sh tensorflow"});
  return host_abi_major == WASINN_BACKEND_ABI_MAJOR ? &table : nullptr;
}
