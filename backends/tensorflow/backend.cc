// The backend's table of functions.
#include <wasinn/backend.h>

#include "common/table.h"
#include "tensorflow/config.h"
#include "tensorflow/context.h"
#include "tensorflow/host.h"
#include "tensorflow/model.h"

namespace wasinn::tensorflow {

namespace {

constexpr wasinn_format kFormat = {.struct_size = sizeof(wasinn_format), .name = "tensorflow"};
constexpr const wasinn_format* kFormats[] = {&kFormat};

const wasinn_backend* Table() {
  static const wasinn_backend table =
      backend::TableOf<Host, Model, Context>::Make({.name = "tensorflow",
                                                    .version = WASINN_BACKEND_VERSION,
                                                    .formats = kFormats,
                                                    .keys = Keys(),
                                                    .install = "scripts/deps.sh tensorflow"});
  return &table;
}

}  // namespace

}  // namespace wasinn::tensorflow

const wasinn_backend* wasinn_backend_query(uint16_t host_abi_major, uint16_t /*host_abi_minor*/) {
  return host_abi_major == WASINN_BACKEND_ABI_MAJOR ? wasinn::tensorflow::Table() : nullptr;
}
