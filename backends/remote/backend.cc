// The backend's table of functions. All but the first need gRPC, and are the runtime's.
#include <wasinn/backend.h>

#include <atomic>
#include <iterator>
#include <mutex>

#include "common/error.h"
#include "common/runtime.h"
#include "remote/config.h"

namespace wasinn::remote {

namespace {

constexpr const char* kSchemes[] = {"grpc", "grpcs"};
constexpr wasinn_format kFormat = {
    .struct_size = sizeof(wasinn_format), .name = "remote", .schemes = kSchemes, .n_schemes = std::size(kSchemes)};
constexpr const wasinn_format* kFormats[] = {&kFormat};

std::atomic<const wasinn_backend*> runtime = nullptr;

const wasinn_backend* Runtime() { return runtime.load(std::memory_order_acquire); }

void OpenRuntime() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (Runtime() != nullptr) return;
  static constexpr char kHere = 0;
  runtime.store(
      backend::OpenRuntimeBeside(&kHere, WASINN_REMOTE_RUNTIME, "wasinn_remote_runtime",
                                 "the remote backend's " WASINN_REMOTE_RUNTIME " did not open, which needs gRPC"),
      std::memory_order_release);
}

template <auto Member>
using Forward = backend::Forward<Runtime, Member>;

wasinn_error* Open(const wasinn_host_services* services, const char* config, wasinn_backend_state** out) {
  if (wasinn_error* error = backend::Guard([] { OpenRuntime(); })) return error;
  return Runtime()->open(services, config, out);
}

wasinn_backend MakeTable() {
  return {
      .struct_size = sizeof(wasinn_backend),
      .abi_major = WASINN_BACKEND_ABI_MAJOR,
      .abi_minor = WASINN_BACKEND_ABI_MINOR,
      .name = "remote",
      .version = WASINN_BACKEND_VERSION,
      .formats = kFormats,
      .n_formats = std::size(kFormats),
      .keys = Keys().data(),
      .n_keys = Keys().size(),
      .install = "",
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
      .bind_output = Forward<&wasinn_backend::bind_output>::Call,
  };
}

const wasinn_backend* Table() {
  static const wasinn_backend table = MakeTable();
  return &table;
}

}  // namespace

}  // namespace wasinn::remote

const wasinn_backend* wasinn_backend_query(uint16_t host_abi_major, uint16_t /*host_abi_minor*/) {
  return host_abi_major == WASINN_BACKEND_ABI_MAJOR ? wasinn::remote::Table() : nullptr;
}
