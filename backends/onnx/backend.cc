// The backend's table of functions.
#include <wasinn/backend.h>

#include "common/table.h"
#include "onnx/config.h"
#include "onnx/context.h"
#include "onnx/host.h"
#include "onnx/model.h"

namespace wasinn::onnx {

namespace {

constexpr wasinn_format kFormat = {.struct_size = sizeof(wasinn_format), .name = "onnx"};
constexpr const wasinn_format* kFormats[] = {&kFormat};

const wasinn_backend* Table() {
  static const wasinn_backend table =
      backend::TableOf<Host, Model, Context>::Make({.name = "onnx",
                                                    .version = WASINN_BACKEND_VERSION,
                                                    .formats = kFormats,
                                                    .keys = Keys(),
                                                    .install = "scripts/deps.sh onnxruntime",
                                                    .bind_align = 1});
  return &table;
}

}  // namespace

}  // namespace wasinn::onnx

const wasinn_backend* wasinn_backend_query(uint16_t host_abi_major, uint16_t /*host_abi_minor*/) {
  return host_abi_major == WASINN_BACKEND_ABI_MAJOR ? wasinn::onnx::Table() : nullptr;
}
