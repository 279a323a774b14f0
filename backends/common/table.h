// A backend's table of functions, from three C++ classes.
#pragma once

#include <wasinn/backend.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "common/abi.h"
#include "common/error.h"

namespace wasinn::backend {

// A backend's description of itself before its framework is opened. Everything lives as long as the OS process.
struct Identity {
  const char* name;
  const char* version;
  std::span<const wasinn_format* const> formats;
  std::span<const wasinn_key> keys;
  const char* install;
  uint32_t bind_align = 0;  // as in wasinn_backend
};

// A table without functions.
constexpr wasinn_backend MakeTable(const Identity& identity) {
  return {.struct_size = sizeof(wasinn_backend),
          .abi_major = WASINN_BACKEND_ABI_MAJOR,
          .abi_minor = WASINN_BACKEND_ABI_MINOR,
          .name = identity.name,
          .version = identity.version,
          .formats = identity.formats.data(),
          .n_formats = identity.formats.size(),
          .keys = identity.keys.data(),
          .n_keys = identity.keys.size(),
          .install = identity.install,
          .bind_align = identity.bind_align};
}

// The functions of wasinn_backend over a backend's own classes, whose members throw:
//
//   Host(const wasinn_host_services&, const char* config); const wasinn_backend_info* info();
//     and where it can: void OpenCode(const std::string& path);
//   Model(Host&, std::span<const wasinn_builder>, const wasinn_load_options&); const wasinn_info* info();
//   Context(Model&, const wasinn_slot_options&);
//     void BindInput(uint32_t, const wasinn_tensor&); void UnbindInput(uint32_t);
//     void Compute(); or, where it can leave outputs out: void Compute(std::span<const uint32_t> wanted);
//     void Output(uint32_t, wasinn_tensor*);
//   and where it can: void Cancel(); void DiscardOutputs(); void TakeOutput(uint32_t, wasinn_tensor*);
//     std::span<const wasinn_io* const> Outputs();
//     void ComputeAsync(std::span<const uint32_t> wanted, std::function<void(wasinn_error*)> done);
//     where outputs can stay on a device: void SetKept(std::span<const uint32_t>) noexcept, before each compute;
//     where outputs are bindable: void BindOutput(uint32_t, const wasinn_tensor&); bool has_outputs_elsewhere() const;
//     where graphs share slots: void Reset();
//     and, all three, void Step(); void Piece(uint32_t, wasinn_tensor*); void Finish();
//   const char* Model::Describe()
template <typename Host, typename Model, typename Context>
class TableOf {
 public:
  static constexpr wasinn_backend Make(const Identity& identity) {
    wasinn_backend table = MakeTable(identity);
    table.open = Open;
    table.close = [](wasinn_backend_state* host) { Quietly([&] { delete Of(host); }); };
    table.backend_info = BackendInfo;
    table.load = Load;
    table.unload = [](wasinn_backend_graph* graph) { Quietly([&] { delete Of(graph); }); };
    table.info = Info;
    table.slot_new = SlotNew;
    table.slot_free = [](wasinn_backend_slot* slot) { Quietly([&] { delete Of(slot); }); };
    table.bind_input = [](wasinn_backend_slot* slot, uint32_t index, const wasinn_tensor* tensor) {
      return Guard([&] { Of(slot)->BindInput(index, ReadStruct(tensor)); });
    };
    table.unbind_input = [](wasinn_backend_slot* slot, uint32_t index) {
      Quietly([&] { Of(slot)->UnbindInput(index); });
    };
    table.compute = Compute;
    table.output = Output;
    AddOptional(&table);
    return table;
  }

 private:
  static Host* Of(wasinn_backend_state* host) { return reinterpret_cast<Host*>(host); }
  static Model* Of(wasinn_backend_graph* graph) { return reinterpret_cast<Model*>(graph); }
  static Context* Of(wasinn_backend_slot* slot) { return reinterpret_cast<Context*>(slot); }

  // For functions that cannot report errors: ignores exceptions.
  template <typename Function>
  static void Quietly(Function&& function) noexcept {
    if (wasinn_error* error = Guard(std::forward<Function>(function))) error->release(error);
  }

  // Lets `function` fill a tensor of this version, and copies the known fields to the host's.
  template <typename Function>
  static wasinn_error* Fill(wasinn_tensor* theirs, Function&& function) noexcept {
    return Guard([&] {
      if (theirs->struct_size == sizeof *theirs) return function(theirs);  // the usual case
      wasinn_tensor full = {};
      full.struct_size = sizeof full;
      function(&full);
      WriteStruct(theirs, full);
    });
  }

  static wasinn_error* Open(const wasinn_host_services* services, const char* config, wasinn_backend_state** out) {
    return Guard([&] { *out = reinterpret_cast<wasinn_backend_state*>(new Host(ReadStruct(services), config)); });
  }

  static wasinn_error* BackendInfo(wasinn_backend_state* host, const wasinn_backend_info** out) {
    return Guard([&] { *out = Of(host)->info(); });
  }

  static wasinn_error* Load(wasinn_backend_state* host, const wasinn_builder* const* builders, size_t n_builders,
                            const wasinn_load_options* options, wasinn_backend_graph** out) {
    return Guard([&] {
      std::vector<wasinn_builder> read;
      read.reserve(n_builders);
      for (const wasinn_builder* builder : std::span(builders, n_builders)) read.push_back(ReadStruct(builder));
      *out = reinterpret_cast<wasinn_backend_graph*>(
          new Model(*Of(host), std::span<const wasinn_builder>(read), ReadStruct(options)));
    });
  }

  static wasinn_error* Info(wasinn_backend_graph* graph, const wasinn_info** out) {
    return Guard([&] { *out = Of(graph)->info(); });
  }

  static wasinn_error* SlotNew(wasinn_backend_graph* graph, const wasinn_slot_options* options,
                               wasinn_backend_slot** out) {
    return Guard([&] { *out = reinterpret_cast<wasinn_backend_slot*>(new Context(*Of(graph), ReadStruct(options))); });
  }

  static void PassOptions(Context* slot, const wasinn_compute_options& options) {
    if constexpr (requires(Context& context) { context.SetMaxBytes(uint64_t{}); }) slot->SetMaxBytes(options.max_bytes);
    if constexpr (requires(Context& context) { context.SetKept(std::span<const uint32_t>()); }) {
      slot->SetKept(std::span(options.kept, options.n_kept));
    }
    if constexpr (requires(Context& context) { context.SetDeadline(uint64_t{}); }) {
      slot->SetDeadline(options.deadline_ms);
    }
  }

  static wasinn_error* Compute(wasinn_backend_slot* slot, const wasinn_compute_options* theirs,
                               wasinn_compute_result* result) {
    return Guard([&] {
      const wasinn_compute_options options = ReadStruct(theirs);
      PassOptions(Of(slot), options);
      if constexpr (requires(Context& context) { context.WantsSteps(); }) {
        if ((options.flags & WASINN_MAY_STEP) != 0 && Of(slot)->WantsSteps()) {
          result->flags |= WASINN_BY_STEPS;
          return;
        }
      }
      if constexpr (requires(Context& context) { context.Compute(std::span<const uint32_t>()); }) {
        Of(slot)->Compute(std::span(options.wanted, options.n_wanted));
      } else {
        Of(slot)->Compute();
      }
      if constexpr (requires(const Context& computed) { computed.has_outputs_elsewhere(); }) {
        if (Of(slot)->has_outputs_elsewhere()) result->flags |= WASINN_OUTPUTS_ELSEWHERE;
      }
    });
  }

  static wasinn_error* Output(wasinn_backend_slot* slot, uint32_t index, wasinn_tensor* view) {
    return Fill(view, [&](wasinn_tensor* full) { Of(slot)->Output(index, full); });
  }

  static constexpr void AddOptional(wasinn_backend* table) {
    if constexpr (requires(Host& host) { host.OpenCode(""); }) {
      table->open_code = [](wasinn_backend_state* host, const char* path) {
        return Guard([&] { Of(host)->OpenCode(path); });
      };
    }
    if constexpr (requires(Context& context, std::function<void(wasinn_error*)> done) {
                    context.ComputeAsync(std::span<const uint32_t>(), done);
                  }) {
      table->compute_async = [](wasinn_backend_slot* slot, const wasinn_compute_options* theirs, wasinn_compute_result*,
                                void (*done)(void* user, wasinn_error* error), void* user) {
        return Guard([&] {
          const wasinn_compute_options options = ReadStruct(theirs);
          PassOptions(Of(slot), options);
          Of(slot)->ComputeAsync(std::span(options.wanted, options.n_wanted),
                                 [done, user](wasinn_error* error) { done(user, error); });
        });
      };
    }
    if constexpr (requires(Context& context) { context.Cancel(); }) {
      table->cancel = [](wasinn_backend_slot* slot) { Quietly([&] { Of(slot)->Cancel(); }); };
    }
    if constexpr (requires(Context& context) { context.DiscardOutputs(); }) {
      table->discard_outputs = [](wasinn_backend_slot* slot) { Quietly([&] { Of(slot)->DiscardOutputs(); }); };
    }
    if constexpr (requires(Context& context) { context.Reset(); }) {
      table->reset = [](wasinn_backend_slot* slot) { return Guard([&] { Of(slot)->Reset(); }); };
    }
    if constexpr (requires(Context& context, const wasinn_tensor& tensor) { context.BindOutput(0, tensor); }) {
      table->bind_output = [](wasinn_backend_slot* slot, uint32_t index, const wasinn_tensor* tensor) {
        return Guard([&] { Of(slot)->BindOutput(index, ReadStruct(tensor)); });
      };
    }
    if constexpr (requires(Context& context) { context.Outputs(); }) {
      table->outputs = [](wasinn_backend_slot* slot, const wasinn_io* const** out, uint32_t* n) {
        return Guard([&] {
          const std::span<const wasinn_io* const> ios = Of(slot)->Outputs();
          *out = ios.data();
          *n = static_cast<uint32_t>(ios.size());
        });
      };
    }
    if constexpr (requires(Context& context) { context.Step(); }) {
      table->step = [](wasinn_backend_slot* slot) { return Guard([&] { Of(slot)->Step(); }); };
      table->piece = [](wasinn_backend_slot* slot, uint32_t index, wasinn_tensor* view) {
        return Fill(view, [&](wasinn_tensor* full) { Of(slot)->Piece(index, full); });
      };
      table->finish = [](wasinn_backend_slot* slot) { return Guard([&] { Of(slot)->Finish(); }); };
    }
    if constexpr (requires(Model& model) { model.Describe(); }) {
      table->describe = [](wasinn_backend_graph* graph) -> const char* {
        const char* text = nullptr;
        Quietly([&] { text = Of(graph)->Describe(); });
        return text;
      };
    }
    if constexpr (requires(Context& context, wasinn_tensor* tensor) { context.TakeOutput(0, tensor); }) {
      table->take_output = [](wasinn_backend_slot* slot, uint32_t index, wasinn_tensor* out) {
        return Fill(out, [&](wasinn_tensor* full) { Of(slot)->TakeOutput(index, full); });
      };
    }
  }
};

// The result of wasinn_backend_query, for a backend with one format.
template <typename Host, typename Model, typename Context>
const wasinn_backend* Query(uint16_t host_abi_major, const char* format, Identity identity) {
  static const wasinn_format only = {.struct_size = sizeof(wasinn_format), .name = format};
  static const wasinn_format* const formats[] = {&only};
  identity.formats = formats;
  static const wasinn_backend table = TableOf<Host, Model, Context>::Make(identity);
  return host_abi_major == WASINN_BACKEND_ABI_MAJOR ? &table : nullptr;
}

}  // namespace wasinn::backend
