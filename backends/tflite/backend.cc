// The backend's table of functions.
#include <wasinn/backend.h>

#include "common/table.h"
#include "tflite/config.h"
#include "tflite/context.h"
#include "tflite/host.h"
#include "tflite/model.h"

namespace wasinn::tflite {

namespace {

constexpr wasinn_format kFormat = {.struct_size = sizeof(wasinn_format), .name = "tensorflowlite"};
constexpr const wasinn_format* kFormats[] = {&kFormat};

const wasinn_backend* Table() {
  static const wasinn_backend table =
      backend::TableOf<Host, Model, Context>::Make({.name = "tflite",
                                                    .version = WASINN_BACKEND_VERSION,
                                                    .formats = kFormats,
                                                    .keys = Keys(),
                                                    .install = "scripts/deps.sh tflite"});
  return &table;
}

}  // namespace

}  // namespace wasinn::tflite

const wasinn_backend* wasinn_backend_query(uint16_t host_abi_major, uint16_t /*host_abi_minor*/) {
  return host_abi_major == WASINN_BACKEND_ABI_MAJOR ? wasinn::tflite::Table() : nullptr;
}
