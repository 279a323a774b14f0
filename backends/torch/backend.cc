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

template <auto Member>
using Forward = backend::Forward<Runtime, Member>;

wasinn_error* Open(const wasinn_host_services* services, const char* config, wasinn_backend_state** out) {
  if (wasinn_error* error = backend::Guard(
          [&] { OpenRuntime(BackendConfig::Parse(config, backend::ReadStruct(services).threads).library); })) {
    return error;
  }
  return Runtime()->open(services, config, out);
}

wasinn_backend MakeTable() {
  return {
      .struct_size = sizeof(wasinn_backend),
      .abi_major = WASINN_BACKEND_ABI_MAJOR,
      .abi_minor = WASINN_BACKEND_ABI_MINOR,
      .name = "torch",
      .version = WASINN_BACKEND_VERSION,
      .formats = kFormats,
      .n_formats = std::size(kFormats),
      .keys = Keys().data(),
      .n_keys = Keys().size(),
      .install = kInstall,
      .open = Open,
      .close = Forward<&wasinn_backend::close>::Call,
      .backend_info = Forward<&wasinn_backend::backend_info>::Call,
      .load = Forward<&wasinn_backend::load>::Call,
      .unload = Forward<&wasinn_backend::unload>::Call,
      .info = Forward<&wasinn_backend::info>::Call,
      .slot_new = Forward<&wasinn_backend::slot_new>::Call,
      .slot_free = Forward<&wasinn_backend::slot_free>::Call,
      .bind_input = Forward<&wasinn_backend::bind_input>::Call,
      .unbind_input = Forward<&wasinn_backend::unbind_input>::Call,
      .compute = Forward<&wasinn_backend::compute>::Call,
      .output = Forward<&wasinn_backend::output>::Call,
      .cancel = Forward<&wasinn_backend::cancel>::Call,
      .discard_outputs = Forward<&wasinn_backend::discard_outputs>::Call,
      .take_output = Forward<&wasinn_backend::take_output>::Call,
      .outputs = Forward<&wasinn_backend::outputs>::Call,
      .describe = Forward<&wasinn_backend::describe>::Call,
      .bind_align = 1,
  };
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
