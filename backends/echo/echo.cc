// A backend without a framework, for tests of the core: output i is a copy of input i, and the model's text says how it
// behaves otherwise (model.h).
#include <wasinn/backend.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/abi.h"
#include "common/dtype.h"
#include "common/error.h"
#include "device.h"
#include "inputs.h"
#include "model.h"
#include "values.h"
#include "work.h"

struct wasinn_backend_state {
  const wasinn_host_services services;
  // Counts of living objects, and the most slots at a time; tests read them from the log at close.
  std::atomic<int> models{0}, slots{0}, taken{0}, most_slots{0}, inputs_bound{0}, slots_made{0};
};

namespace {

struct HeldError {
  wasinn_error error;
  std::string message;
};

wasinn_error* Fail(int code, std::string message) {
  auto* held = new HeldError{{}, std::move(message)};
  held->error = {sizeof(wasinn_error), static_cast<uint32_t>(code), held->message.c_str(),
                 [](wasinn_error* self) { delete reinterpret_cast<HeldError*>(self); }};
  return &held->error;
}

}  // namespace

struct wasinn_backend_slot {
  wasinn_backend_graph* model;
  std::vector<wasinn::echo::Buffer> inputs, outputs;
  std::vector<wasinn_tensor> bound;     // outputs; data NULL: not bound
  wasinn::echo::Text generated, piece;  // from input 0, for every output
  wasinn::echo::Text mood;
  wasinn::echo::Kept kept;
  uint64_t max_bytes = 0;
  bool generating = false;
  std::atomic<bool> running{false}, cancelled{false};
  std::thread later;  // of the last compute_async
};

namespace {

using wasinn::backend::WriteStruct;
using wasinn::echo::Buffer;
using wasinn::echo::Pass;
using wasinn::echo::Work;

// A function of the table: no exception may pass through C.
template <auto kFunction>
struct Caught;
template <typename... Args, wasinn_error* (*kFunction)(Args...)>
struct Caught<kFunction> {
  static wasinn_error* Call(Args... args) noexcept try { return kFunction(args...); } catch (...) {
    return wasinn::backend::MakeErrorOfCurrentException();
  }
};

// NULL, or the error that a model has no such input or output.
wasinn_error* CheckIndex(const wasinn_backend_slot* slot, uint32_t index) {
  if (index < slot->inputs.size()) return nullptr;
  return Fail(WASINN_ERROR_INVALID_ARGUMENT, "the model has " + std::to_string(slot->inputs.size()) +
                                                 " inputs and outputs: found index " + std::to_string(index));
}

// NULL, or the error that there is no output: no compute has succeeded, or it was taken or discarded.
wasinn_error* CheckOutput(const wasinn_backend_slot* slot, uint32_t index) {
  if (wasinn_error* error = CheckIndex(slot, index)) return error;
  if (slot->outputs[index].there) return nullptr;
  return Fail(WASINN_ERROR_INVALID_ARGUMENT, "there is no output " + std::to_string(index));
}

// NULL, or the error that a required input is not set.
wasinn_error* CheckInputs(const wasinn_backend_slot* slot) {
  for (size_t i = 0; i < slot->inputs.size(); ++i) {
    const wasinn_io& io = slot->model->ios[i]->io;
    if (slot->inputs[i].there || (io.flags & (WASINN_IO_OPTIONAL | WASINN_IO_UNSERVABLE)) != 0) continue;
    return Fail(WASINN_ERROR_INVALID_ARGUMENT, std::string("input '") + io.name + "' is not set");
  }
  return nullptr;
}

// Throws Error.
void Keep(wasinn::echo::Kept& kept, const wasinn_backend_state& backend, void* account, size_t bytes) {
  kept.reservation = wasinn::backend::Reservation(backend.services, account);
  kept.Resize(bytes);
}

// The text between the quotes of a key's value; "": there is no such key.
std::string TextOf(const std::string& config, const std::string& key) {
  size_t at = config.find('"' + key + '"');
  if (at == std::string::npos) return "";
  at = config.find('"', config.find(':', at)) + 1;
  return config.substr(at, config.find('"', at) - at);
}

wasinn_error* Open(const wasinn_host_services* services, const char* config, wasinn_backend_state** out) {
  if (std::string_view(config).find("missing") != std::string_view::npos) {
    return Fail(WASINN_ERROR_UNSUPPORTED_OPERATION,
                "libecho.so was not found; install it with: scripts/deps.sh echo\nlooked for: /usr/lib/libecho.so");
  }
  Pass(TextOf(config, "gate"), false);
  *out = new wasinn_backend_state{wasinn::backend::ReadStruct(services)};
  return nullptr;
}

void Close(wasinn_backend_state* backend) {
  const std::string message = "closed with " + std::to_string(backend->models) + " models and " +
                              std::to_string(backend->slots) + " slots alive, " + std::to_string(backend->taken) +
                              " outputs taken, after " + std::to_string(backend->most_slots) + " slots at most, " +
                              std::to_string(backend->inputs_bound) + " inputs bound, " +
                              std::to_string(backend->slots_made) + " slots made";
  backend->services.log(backend->services.host, WASINN_LOG_INFO, message.c_str());
  delete backend;
}

wasinn_error* BackendInfo(wasinn_backend_state*, const wasinn_backend_info** out) {
  static constexpr wasinn_backend_info info = {sizeof(wasinn_backend_info), "echo", "1.0", "", "cpu"};
  *out = &info;
  return nullptr;
}

wasinn_error* Load(wasinn_backend_state* backend, const wasinn_builder* const* builders, size_t,
                   const wasinn_load_options* options, wasinn_backend_graph** out) {
  auto model = std::make_unique<wasinn_backend_graph>();
  model->backend = backend;
  const auto* text = reinterpret_cast<const char*>(builders[0]->data);
  if (builders[0]->size < 4 || std::string_view(text, 4) != "GGUF")
    return Fail(WASINN_ERROR_INVALID_ENCODING, "no GGUF");
  wasinn::echo::ReadModel(*model, std::string_view(text + 4, builders[0]->size - 4));
  model->description = std::string(R"({"guest_config":)") + options->guest_config + "}";
  if (options->target == WASINN_TARGET_GPU && options->cpu_fallback == 0) {
    return Fail(WASINN_ERROR_UNSUPPORTED_OPERATION, "echo has no gpu");
  }
  if (model->dies == "load") wasinn::echo::Die();
  if (!Work(model->load_delay_ms, model->load_gate, *options, model->deaf))
    return Fail(WASINN_ERROR_RUNTIME, "load cancelled");
  if (!model->says.empty()) backend->services.log(backend->services.host, WASINN_LOG_WARNING, model->says.c_str());
  if (model->fail_load != 0) {
    return Fail(model->fail_load, model->says.empty() ? "load fails as the model says" : model->says);
  }
  Keep(model->kept, *backend, wasinn::backend::ReadStruct(options).account, model->load_keeps);
  ++backend->models;
  *out = model.release();
  return nullptr;
}

void Unload(wasinn_backend_graph* model) {
  if (model->dies == "unload") wasinn::echo::Die();
  Pass(model->unload_gate, false);
  --model->backend->models;
  delete model;
}

wasinn_error* Info(wasinn_backend_graph* model, const wasinn_info** out) {
  *out = &model->info;
  return nullptr;
}

wasinn_error* SlotNew(wasinn_backend_graph* model, const wasinn_slot_options* options, wasinn_backend_slot** out) {
  if (!model->context_gate.empty() && !Work(0, model->context_gate, *options, model->deaf)) {
    return Fail(WASINN_ERROR_RUNTIME, "making the slot was cancelled");
  }
  auto slot = std::make_unique<wasinn_backend_slot>();
  slot->model = model;
  slot->max_bytes = wasinn::backend::ReadStruct(options).max_bytes;
  void* const account = wasinn::backend::ReadStruct(options).account;
  Keep(slot->kept, *model->backend, account, model->keeps);
  slot->mood.Set(options->guest_config);
  slot->inputs.resize(model->ios.size());
  slot->outputs.resize(model->ios.size());
  slot->bound.resize(model->ios.size());
  ++model->backend->slots_made;
  auto& most = model->backend->most_slots;
  const int now = ++model->backend->slots;
  for (int before = most; before < now && !most.compare_exchange_weak(before, now);) {
  }
  *out = slot.release();
  return nullptr;
}

void SlotFree(wasinn_backend_slot* slot) {
  Pass(slot->model->free_gate, false);
  if (slot->later.joinable()) slot->later.join();
  --slot->model->backend->slots;
  delete slot;
}

std::string_view NextPiece(const wasinn_backend_slot& slot) {
  const wasinn_tensor& input = slot.inputs[0].tensor;
  return std::string_view(static_cast<const char*>(input.data), input.bytes)
      .substr(slot.generated.size(), slot.model->piece);
}

// Whether the next compute, or the next step of one, has such a byte.
bool Meets(const wasinn_backend_slot& slot, int byte) {
  if (slot.model->piece == 0) return wasinn::echo::HasByte(slot.inputs, byte);
  return byte >= 0 && NextPiece(slot).contains(static_cast<char>(byte));
}

bool WorkOn(wasinn_backend_slot* slot) {
  slot->cancelled.store(false);
  slot->running.store(true);
  if (slot->model->dies == "compute") wasinn::echo::Die();
  const bool endless = Meets(*slot, slot->model->endless);
  const int delay_ms = endless ? wasinn::echo::kEndless : slot->model->delay_ms;
  const bool waits = slot->model->gated < 0 || Meets(*slot, slot->model->gated);
  static const std::string no_gate;
  const bool done = Work(delay_ms, waits ? slot->model->gate : no_gate, slot->cancelled);
  slot->running.store(false);
  return done;
}

wasinn_error* Step(wasinn_backend_slot* slot) {
  const wasinn_backend_graph& model = *slot->model;
  if (model.piece == 0) return Fail(WASINN_ERROR_UNSUPPORTED_OPERATION, "this model has no pieces");
  if (wasinn_error* error = CheckInputs(slot)) return error;
  if (!slot->generating) slot->generated.Set({});
  slot->generating = true;
  const size_t done = slot->generated.size();
  if (!WorkOn(slot)) return Fail(done > 0 ? WASINN_ERROR_CONTEXT_FULL : WASINN_ERROR_RUNTIME, "step cancelled");
  const std::string_view piece = NextPiece(*slot);
  if (piece.empty()) return Fail(WASINN_ERROR_END_OF_SEQUENCE, "all is said");
  if (done >= model.room) return Fail(WASINN_ERROR_CONTEXT_FULL, "no room is left");
  slot->piece.Set(std::string(piece));
  slot->generated.Append(piece.data(), piece.size());
  return nullptr;
}

wasinn_error* Piece(wasinn_backend_slot* slot, uint32_t, wasinn_tensor* view) {
  WriteStruct(view, slot->piece.View());
  return nullptr;
}

wasinn_error* Finish(wasinn_backend_slot* slot) {
  slot->generating = false;
  return nullptr;
}

void Outgrow(Buffer& output, size_t bytes) {
  const auto dim = static_cast<int64_t>(bytes);
  wasinn_tensor tensor = output.tensor;
  tensor.dtype = WASINN_DTYPE_U8;
  tensor.rank = 1;
  tensor.dims = &dim;
  tensor.bytes = bytes;
  output.Set(tensor);
}

bool IsBindable(const wasinn_backend_slot& slot, size_t index) {
  return (slot.model->ios[index]->io.flags & WASINN_IO_BINDABLE) != 0;
}

// Writes it to the bound memory, unless the model says that its signature is wrong.
void MakeOutput(wasinn_backend_slot* slot, size_t index) {
  const wasinn_backend_graph& model = *slot->model;
  const wasinn_tensor& input = slot->inputs[index].tensor;
  Buffer& output = slot->outputs[index];
  void* bound = IsBindable(*slot, index) && model.outgrows == 0 ? slot->bound[index].data : nullptr;
  output.Set(input, bound);
  if (bound != nullptr && model.leaves) return;
  if (input.bytes > 0) std::memcpy(bound != nullptr ? bound : output.bytes.data(), input.data, input.bytes);
  if (model.outgrows > 0) Outgrow(output, model.outgrows);
}

// The memory of a compute in addition to its outputs.
wasinn_error* CheckBytes(const wasinn_backend_slot* slot, const wasinn_compute_options* options) {
  uint64_t bytes = 0;
  for (const Buffer& input : slot->inputs) bytes += input.tensor.bytes * slot->model->takes;
  const uint64_t limit = wasinn::backend::ReadStruct(options).max_bytes;
  const uint64_t most = limit != 0 ? limit : slot->max_bytes;
  if (most == 0 || bytes <= most) return nullptr;
  return Fail(WASINN_ERROR_TOO_LARGE,
              "the compute takes " + std::to_string(bytes) + " bytes of " + std::to_string(most));
}

wasinn_error* Compute(wasinn_backend_slot* slot, const wasinn_compute_options* options, wasinn_compute_result* result) {
  slot->generating = false;
  if (slot->model->piece != 0) {
    wasinn_error* error = nullptr;
    while (error == nullptr) error = Step(slot);
    slot->generating = false;
    if (error->code != WASINN_ERROR_END_OF_SEQUENCE) return error;
    error->release(error);
    return nullptr;
  }
  for (Buffer& output : slot->outputs) output = {};  // unwanted outputs, and those after an error, do not exist
  if (wasinn_error* error = CheckInputs(slot)) return error;
  wasinn::echo::Record(*slot->model, slot->inputs);
  if (wasinn_error* error = CheckBytes(slot, options)) return error;
  if (wasinn::echo::HasByte(slot->inputs, slot->model->deadly)) wasinn::echo::Die();
  if (!WorkOn(slot)) return Fail(WASINN_ERROR_RUNTIME, "compute cancelled");
  if (wasinn::echo::HasByte(slot->inputs, slot->model->poison))
    return Fail(WASINN_ERROR_RUNTIME, "compute fails on such an input");
  if (slot->model->fail != 0) return Fail(slot->model->fail, "compute fails as the model says");
  const std::span wanted(options->wanted, options->n_wanted);
  const wasinn_compute_options known = wasinn::backend::ReadStruct(options);
  const std::span kept(known.kept, known.n_kept);
  for (size_t i = 0; i < slot->inputs.size(); ++i) {
    if (!wanted.empty() && std::ranges::find(wanted, i) == wanted.end()) {
      slot->outputs[i].Set({.struct_size = sizeof(wasinn_tensor), .dtype = WASINN_DTYPE_U8});  // it has no bytes
      continue;
    }
    const bool is_kept = std::ranges::find(kept, i) != kept.end();
    if (is_kept) slot->bound[i] = {};
    if (IsBindable(*slot, i) && !is_kept && slot->bound[i].data == nullptr) {
      return Fail(WASINN_ERROR_INVALID_ARGUMENT, "output " + std::to_string(i) + " is not bound");
    }
    MakeOutput(slot, i);
    if (is_kept || slot->model->strays) wasinn::echo::PutOnDevice(*slot->model, slot->outputs[i]);
    if (IsBindable(*slot, i) && slot->model->outgrows > 0) result->flags |= WASINN_OUTPUTS_ELSEWHERE;
  }
  return nullptr;
}

// Runs that may end before the function returns do.
wasinn_error* ComputeAsync(wasinn_backend_slot* slot, const wasinn_compute_options* options,
                           wasinn_compute_result* result, void (*done)(void* user, wasinn_error* error), void* user) {
  const std::string_view async = slot->model->async;
  if (async == "refused") return Fail(WASINN_ERROR_UNAVAILABLE, "nothing is begun here");
  const auto work = [=, twice = async == "twice"] {
    done(user, Caught<Compute>::Call(slot, options, result));
    if (twice) done(user, Fail(WASINN_ERROR_RUNTIME, "and once more"));
  };
  if (async.empty()) {
    work();
    return nullptr;
  }
  if (slot->later.joinable()) slot->later.join();
  slot->later = std::thread(work);
  return nullptr;
}

wasinn_error* Output(wasinn_backend_slot* slot, uint32_t index, wasinn_tensor* view) {
  if (wasinn_error* error = CheckIndex(slot, index)) return error;
  if ((slot->model->ios[index]->io.flags & WASINN_IO_ALWAYS) != 0) {
    WriteStruct(view, slot->mood.View());
    return nullptr;
  }
  if (slot->model->piece != 0) {
    WriteStruct(view, slot->generated.View());
    return nullptr;
  }
  if (wasinn_error* error = CheckOutput(slot, index)) return error;
  WriteStruct(view, slot->outputs[index].tensor);
  return nullptr;
}

void DiscardOutputs(wasinn_backend_slot* slot) {
  for (Buffer& output : slot->outputs) output = {};
  slot->generated.Set({});
}

wasinn_error* BindInput(wasinn_backend_slot* slot, uint32_t index, const wasinn_tensor* tensor) {
  if (wasinn_error* error = CheckIndex(slot, index)) return error;
  wasinn_tensor seen = wasinn::backend::ReadStruct(tensor);
  if (!wasinn::echo::SeenByDevice(*slot->model, seen)) {
    return Fail(WASINN_ERROR_INVALID_ARGUMENT, std::string("echo cannot read the memory of ") + seen.memory);
  }
  slot->inputs[index].Set(seen, seen.data);
  ++slot->model->backend->inputs_bound;
  return nullptr;
}

// wasinn finishes a generation before it unsets an input, which the generation may still read.
void UnbindInput(wasinn_backend_slot* slot, uint32_t index) {
  const wasinn_host_services& services = slot->model->backend->services;
  if (slot->generating) services.log(services.host, WASINN_LOG_WARNING, "an input is unbound amid a generation");
  slot->inputs[index] = {};
}

// The bytes of an output, moved out of its slot.
struct Taken {
  wasinn_backend_state* backend;
  Buffer buffer;
};

wasinn_error* TakeOutput(wasinn_backend_slot* slot, uint32_t index, wasinn_tensor* out) {
  if (wasinn_error* error = CheckOutput(slot, index)) return error;
  if (slot->model->untakeable) return Fail(WASINN_ERROR_RUNTIME, "it stays here");
  auto* taken = new Taken{slot->model->backend, std::move(slot->outputs[index])};
  slot->outputs[index] = {};
  ++taken->backend->taken;
  wasinn_tensor given = taken->buffer.tensor;
  given.owner = taken;
  given.release = [](void* owner) {
    auto* self = static_cast<Taken*>(owner);
    --self->backend->taken;
    delete self;
  };
  WriteStruct(out, given);
  return nullptr;
}

wasinn_error* Reset(wasinn_backend_slot* slot) {
  for (Buffer& input : slot->inputs) input = {};
  for (wasinn_tensor& bound : slot->bound) bound = {};
  DiscardOutputs(slot);
  return slot->model->wears ? Fail(WASINN_ERROR_RUNTIME, "it is worn out") : nullptr;
}

wasinn_error* BindOutput(wasinn_backend_slot* slot, uint32_t index, const wasinn_tensor* tensor) {
  if (wasinn_error* error = CheckIndex(slot, index)) return error;
  const wasinn_io& io = slot->model->ios[index]->io;
  const std::span dims(io.dims, static_cast<size_t>(std::max(io.rank, 0)));
  if (!IsBindable(*slot, index) ||
      tensor->bytes != wasinn::backend::TensorBytes(dims, wasinn::backend::ElementSize(io.dtype))) {
    return Fail(WASINN_ERROR_INVALID_ARGUMENT, "output " + std::to_string(index) + " cannot be bound to such memory");
  }
  slot->bound[index] = *tensor;
  return nullptr;
}

wasinn_error* Outputs(wasinn_backend_slot* slot, const wasinn_io* const** out, uint32_t* n) {
  *out = slot->model->late_pointers.data();
  *n = slot->model->info.n_inputs;
  return nullptr;
}

const char* Describe(wasinn_backend_graph* model) { return model->description.c_str(); }

void Cancel(wasinn_backend_slot* slot) {
  Pass(slot->model->cancel_gate, false);
  if (slot->running.load() && !slot->model->deaf) slot->cancelled.store(true);
}

constexpr wasinn_format kFormat = {.struct_size = sizeof(wasinn_format), .name = "ggml"};
constexpr const wasinn_format* kFormats[] = {&kFormat};
constexpr wasinn_key kKeys[] = {
    {"gate", WASINN_KEY_BACKEND, "open waits at the gate of that path"},
    {"missing", WASINN_KEY_BACKEND, "open fails, as if the framework were not there"},
    {"colour", WASINN_KEY_MODEL, "has no effect"},
    {"shade", WASINN_KEY_GUEST, "has no effect"},
    {"mood", WASINN_KEY_GUEST | WASINN_KEY_CONTEXT, "an output that is `always` there shows it"}};

constexpr wasinn_backend kTable = {.struct_size = sizeof(wasinn_backend),
                                   .abi_major = WASINN_BACKEND_ABI_MAJOR,
                                   .abi_minor = WASINN_BACKEND_ABI_MINOR,
                                   .name = "echo",
                                   .version = "1.0",
                                   .formats = kFormats,
                                   .n_formats = std::size(kFormats),
                                   .keys = kKeys,
                                   .n_keys = std::size(kKeys),
                                   .install = "",
                                   .open = Caught<Open>::Call,
                                   .close = Close,
                                   .backend_info = BackendInfo,
                                   .load = Caught<Load>::Call,
                                   .unload = Unload,
                                   .info = Info,
                                   .slot_new = Caught<SlotNew>::Call,
                                   .slot_free = SlotFree,
                                   .bind_input = Caught<BindInput>::Call,
                                   .unbind_input = UnbindInput,
                                   .compute = Caught<Compute>::Call,
                                   .output = Caught<Output>::Call,
                                   .cancel = Cancel,
                                   .discard_outputs = DiscardOutputs,
                                   .take_output = Caught<TakeOutput>::Call,
                                   .outputs = Outputs,
                                   .describe = Describe,
                                   .step = Caught<Step>::Call,
                                   .piece = Piece,
                                   .finish = Finish,
                                   .bind_output = BindOutput,
                                   .reset = Reset,
                                   .compute_async = Caught<ComputeAsync>::Call};

}  // namespace

const wasinn_backend* wasinn_backend_query(uint16_t major, uint16_t) {
  return major == WASINN_BACKEND_ABI_MAJOR ? &kTable : nullptr;
}
