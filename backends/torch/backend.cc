// The backend's table of functions. All but the first need PyTorch, and are the runtime's.
#include <wasinn/backend.h>

#include "common/abi.h"
#include "common/error.h"
#include "common/runtime.h"
#include "torch/config.h"
#include "torch/loader.h"

namespace wasinn::torch {

namespace {

constexpr wasinn_format kFormat = {.struct_size = sizeof(wasinn_format), .name = "pytorch"};
constexpr const wasinn_format* kFormats[] = {&kFormat};

wasinn_error* Open(const wasinn_host_services* services, const char* config, wasinn_backend_state** out) {
  if (wasinn_error* error = backend::Guard(
          [&] { OpenRuntime(BackendConfig::Parse(config, backend::ReadStruct(services).threads).library); })) {
    return error;
  }
  return Runtime()->open(services, config, out);
}

wasinn_backend MakeTable() {
  return backend::MakeForwardingTable<Runtime>({.name = "torch",
                                                .version = WASINN_BACKEND_VERSION,
                                                .formats = kFormats,
                                                .keys = Keys(),
                                                .install = kInstall,
                                                .bind_align = 1},
                                               Open);
}

const wasinn_backend* Table() {
  static const wasinn_backend table = MakeTable();
  return &table;
}

}  // namespace

}  // namespace wasinn::torch

const wasinn_backend* wasinn_backend_query(uint16_t host_abi_major, uint16_t /*host_abi_minor*/) {
  return host_abi_major == WASINN_BACKEND_ABI_MAJOR ? wasinn::torch::Table() : nullptr;
}
