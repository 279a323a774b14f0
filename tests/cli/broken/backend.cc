// The template's backend, broken in one way: BROKEN names the function of this file that breaks it.
#include <wasinn/backend.h>

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

// wasinn_backend_query of template.cc, which is compiled under this name here.
extern "C" const wasinn_backend* TemplateQuery(uint16_t host_abi_major, uint16_t host_abi_minor);

namespace {

const wasinn_backend& Template() { return *TemplateQuery(WASINN_BACKEND_ABI_MAJOR, WASINN_BACKEND_ABI_MINOR); }

// For functions whose arguments do not matter.
template <typename R, typename... Args>
void Crash(R (*&function)(Args...)) {
  function = [](Args...) -> R { std::abort(); };
}
template <typename R, typename... Args>
void NeverReturn(R (*&function)(Args...)) {
  function = [](Args...) -> R {
    for (;;) ::pause();
  };
}

[[maybe_unused]] void incomplete(wasinn_backend& table) { table.compute = nullptr; }
[[maybe_unused]] void another_major(wasinn_backend& table) { table.abi_major = WASINN_BACKEND_ABI_MAJOR + 1; }
[[maybe_unused]] void crashing(wasinn_backend& table) { Crash(table.compute); }
[[maybe_unused]] void crashing_at_open(wasinn_backend& table) { Crash(table.open); }
[[maybe_unused]] void endless(wasinn_backend& table) { NeverReturn(table.discard_outputs); }

// Its framework is not there.
[[maybe_unused]] void missing(wasinn_backend& table) {
  table.open = [](const wasinn_host_services*, const char*, wasinn_backend_state**) {
    static wasinn_error error = {sizeof error, WASINN_ERROR_UNSUPPORTED_OPERATION, "libnothing.so is nowhere",
                                 [](wasinn_error*) {}};
    return &error;
  };
}

// Outputs have other dims than their bytes.
[[maybe_unused]] void lying(wasinn_backend& table) {
  table.output = [](wasinn_backend_slot* slot, uint32_t index, wasinn_tensor* view) {
    static constexpr int64_t kDims[] = {7};
    wasinn_error* error = Template().output(slot, index, view);
    if (error != nullptr) return error;
    view->rank = 1;
    view->dims = kDims;
    return error;
  };
}

// It computes on the bytes that an input had when it was bound.
[[maybe_unused]] void keeping(wasinn_backend& table) {
  table.bind_input = [](wasinn_backend_slot* slot, uint32_t index, const wasinn_tensor* tensor) {
    wasinn_tensor kept = *tensor;
    kept.data = ::operator new(tensor->bytes + 1);  // for as long as the test lasts
    if (tensor->bytes > 0) std::memcpy(kept.data, tensor->data, tensor->bytes);
    return Template().bind_input(slot, index, &kept);
  };
}

// An output stays in the memory that it was bound to first.
[[maybe_unused]] void sticking(wasinn_backend& table) {
  static std::mutex mutex;
  static std::map<wasinn_backend_slot*, wasinn_tensor> first;
  table.bind_output = [](wasinn_backend_slot* slot, uint32_t index, const wasinn_tensor* tensor) {
    const std::lock_guard lock(mutex);
    wasinn_tensor stuck = first.try_emplace(slot, *tensor).first->second;
    stuck.bytes = tensor->bytes;
    return Template().bind_output(slot, index, &stuck);
  };
  table.slot_free = [](wasinn_backend_slot* slot) {
    const std::lock_guard lock(mutex);
    first.erase(slot);
    Template().slot_free(slot);
  };
}

// Contexts may share its slots, which reset leaves as they are.
[[maybe_unused]] void remembering(wasinn_backend& table) {
  table.info = [](wasinn_backend_graph* graph, const wasinn_info** out) {
    static wasinn_info shared;
    const wasinn_info* own = nullptr;
    wasinn_error* error = Template().info(graph, &own);
    if (error != nullptr) return error;
    shared = *own;
    shared.flags |= WASINN_GRAPH_SHARES_SLOTS;
    *out = &shared;
    return error;
  };
  table.reset = [](wasinn_backend_slot*) -> wasinn_error* { return nullptr; };
}

// It gives back nothing of what it has charged.
[[maybe_unused]] void owing(wasinn_backend& table) {
  static wasinn_host_services services;
  table.open = [](const wasinn_host_services* given, const char* config, wasinn_backend_state** out) {
    services = *given;
    return Template().open(given, config, out);
  };
  table.slot_new = [](wasinn_backend_graph* graph, const wasinn_slot_options* options, wasinn_backend_slot** out) {
    services.reserve(services.host, options->account, 100);
    return Template().slot_new(graph, options, out);
  };
}

// Its end goes wrong where there was a model.
bool had_model = false;
void RememberModels(wasinn_backend& table) {
  table.load = [](wasinn_backend_state* backend, const wasinn_builder* const* builders, size_t n,
                  const wasinn_load_options* options, wasinn_backend_graph** out) {
    had_model = true;
    return Template().load(backend, builders, n, options, out);
  };
}
[[maybe_unused]] void crashing_at_close(wasinn_backend& table) {
  RememberModels(table);
  table.close = [](wasinn_backend_state* backend) { had_model ? std::abort() : Template().close(backend); };
}
[[maybe_unused]] void endless_at_close(wasinn_backend& table) {
  RememberModels(table);
  table.close = [](wasinn_backend_state* backend) {
    while (had_model) ::pause();
    Template().close(backend);
  };
}

}  // namespace

const wasinn_backend* wasinn_backend_query(uint16_t, uint16_t) {
  static const wasinn_backend table = [] {
    wasinn_backend broken = Template();
    BROKEN(broken);
    return broken;
  }();
  return &table;
}
