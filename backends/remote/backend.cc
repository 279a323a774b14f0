// The backend's table of functions. All but the first need gRPC, and are in the runtime library.
#include <wasinn/backend.h>

#include <atomic>
#include <iterator>
#include <mutex>

#include "common/error.h"
#include "common/runtime.h"
#include "remote/config.h"

namespace wasinn::remote {

namespace {

constexpr const char* kSchemes[] = {"grpc", "grpcs", "http", "https"};
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
                                 "the remote backend's " WASINN_REMOTE_RUNTIME " failed to open; it needs gRPC"),
      std::memory_order_release);
}

wasinn_error* Open(const wasinn_host_services* services, const char* config, wasinn_backend_state** out) {
  if (wasinn_error* error = backend::Guard([] { OpenRuntime(); })) return error;
  return Runtime()->open(services, config, out);
}

wasinn_backend MakeTable() {
  wasinn_backend table = backend::MakeForwardingTable<Runtime>({.name = "remote",
                                                                .version = WASINN_BACKEND_VERSION,
                                                                .formats = kFormats,
                                                                .keys = Keys(),
                                                                .install = "",
                                                                .bind_align = 1},
                                                               Open);
  table.bind_output = backend::Forward<Runtime, &wasinn_backend::bind_output>::Call;
  table.step = backend::Forward<Runtime, &wasinn_backend::step>::Call;
  table.piece = backend::Forward<Runtime, &wasinn_backend::piece>::Call;
  table.finish = backend::Forward<Runtime, &wasinn_backend::finish>::Call;
  table.compute_async = backend::Forward<Runtime, &wasinn_backend::compute_async>::Call;
  return table;
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
