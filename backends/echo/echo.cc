// A backend without a framework, for tests of the core alone: output i is a copy of input i, and the model's text says
// how it behaves besides (model.h).
#include <wasinn/backend.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/abi.h"
#include "model.h"

struct wasinn_backend_state {
  const wasinn_host_services services;
  std::atomic<int> models{0}, contexts{0}, taken{0};  // alive; a test reads them from the log at close
};

namespace {

struct HeldError {
  wasinn_error error;
  std::string message;
};

wasinn_error* Fail(int code, std::string message) {
  auto* held = new HeldError{{}, std::move(message)};
  held->error = {sizeof(wasinn_error), static_cast<wasinn_code>(code), held->message.c_str(),
                 [](wasinn_error* self) { delete reinterpret_cast<HeldError*>(self); }};
  return &held->error;
}

struct Buffer {
  wasinn_tensor tensor{};
  std::vector<int64_t> dims;
  std::vector<uint8_t> bytes;
  bool there = false;

  // Allocates only if it is not as large. `data`: memory of somebody else's, or NULL.
  void Set(const wasinn_tensor& given, void* data = nullptr) {
    tensor = given;
    there = true;
    dims.assign(given.dims, given.dims + given.rank);
    if (data == nullptr && bytes.size() != given.bytes) bytes = std::vector<uint8_t>(given.bytes);
    tensor.dims = dims.data();
    tensor.data = data == nullptr ? bytes.data() : data;
  }
};

// What has been generated, as a tensor of bytes.
class Text {
 public:
  void Set(std::string text) {
    text_.swap(text);
    dim_ = static_cast<int64_t>(text_.size());
  }
  void Append(const char* data, size_t size) { Set(text_ + std::string(data, size)); }
  size_t size() const { return text_.size(); }
  wasinn_tensor View() {
    return {.struct_size = sizeof(wasinn_tensor),
            .dtype = WASINN_U8,
            .rank = 1,
            .dims = &dim_,
            .data = text_.data(),
            .bytes = text_.size(),
            .owner = nullptr,
            .release = nullptr};
  }

 private:
  std::string text_;
  int64_t dim_ = 0;
};

}  // namespace

struct wasinn_backend_context {
  wasinn_backend_model* model;
  std::vector<Buffer> inputs, outputs;
  std::vector<uint32_t> wanted;
  Text generated, piece;  // of input 0, whatever the output
  Text mood;
  wasinn::echo::Kept kept;
  bool generating = false;
  std::atomic<bool> running{false}, cancelled{false};
};

namespace {

using wasinn::backend::WriteStruct;

// NULL, or that a model has no such input or output.
wasinn_error* CheckIndex(const wasinn_backend_context* context, uint32_t index) {
  if (index < context->inputs.size()) return nullptr;
  return Fail(WASINN_INVALID_ARGUMENT, "the model has " + std::to_string(context->inputs.size()) +
                                           " inputs and outputs: found index " + std::to_string(index));
}

// NULL, or that it is not there: no compute has succeeded, or somebody took or discarded it.
wasinn_error* CheckOutput(const wasinn_backend_context* context, uint32_t index) {
  if (wasinn_error* error = CheckIndex(context, index)) return error;
  if (context->outputs[index].there) return nullptr;
  return Fail(WASINN_INVALID_ARGUMENT, "there is no output " + std::to_string(index));
}

// NULL, or that an input is not set which is not optional.
wasinn_error* CheckInputs(const wasinn_backend_context* context) {
  for (size_t i = 0; i < context->inputs.size(); ++i) {
    const wasinn_io& io = context->model->ios[i]->io;
    if (context->inputs[i].there || (io.flags & (WASINN_IO_OPTIONAL | WASINN_IO_UNSERVABLE)) != 0) continue;
    return Fail(WASINN_INVALID_ARGUMENT, std::string("input '") + io.name + "' is not set");
  }
  return nullptr;
}

// NULL, or why not.
wasinn_error* Keep(wasinn::echo::Kept& kept, const wasinn_backend_state& backend, void* account, size_t bytes) {
  try {
    kept.reservation = wasinn::backend::Reservation(backend.services, account);
    kept.Resize(bytes);
    return nullptr;
  } catch (const wasinn::backend::Error& error) {
    return Fail(error.code(), error.what());
  }
}

// At a gate that a test opens, so that the test knows what happens meanwhile, however busy the machine is. False as
// below.
bool Pass(const std::string& gate, const std::atomic<bool>& cancelled) {
  if (gate.empty()) return true;
  std::ofstream(gate + ".reached").close();
  while (!std::filesystem::exists(gate)) {
    if (cancelled.load()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// False if it was cancelled meanwhile.
bool Work(int ms, const std::string& gate, const std::atomic<bool>& cancelled) {
  if (!Pass(gate, cancelled)) return false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  while (std::chrono::steady_clock::now() < end) {
    if (cancelled.load()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// The same for what registers its cancel.
template <typename Options>
bool Work(int ms, const std::string& gate, const Options& options) {
  std::atomic<bool> cancelled{false};
  if (options.on_cancel == nullptr) return Work(ms, gate, cancelled);
  options.on_cancel(options.token, [](void* arg) { static_cast<std::atomic<bool>*>(arg)->store(true); }, &cancelled);
  const bool done = Work(ms, gate, cancelled);
  options.on_cancel(options.token, nullptr, nullptr);
  return done;
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
    return Fail(WASINN_UNSUPPORTED_OPERATION, "libecho.so was not found; install it with: scripts/deps.sh echo");
  }
  Pass(TextOf(config, "gate"), false);
  *out = new wasinn_backend_state{wasinn::backend::ReadStruct(services)};
  return nullptr;
}

void Close(wasinn_backend_state* backend) {
  const std::string message = "closed with " + std::to_string(backend->models) + " models and " +
                              std::to_string(backend->contexts) + " contexts alive, " + std::to_string(backend->taken) +
                              " outputs taken";
  backend->services.log(backend->services.host, WASINN_LOG_INFO, message.c_str());
  delete backend;
}

wasinn_error* BackendInfo(wasinn_backend_state*, const wasinn_backend_info** out) {
  static constexpr wasinn_backend_info info = {sizeof(wasinn_backend_info), "echo", "1.0", "", "cpu"};
  *out = &info;
  return nullptr;
}

wasinn_error* Load(wasinn_backend_state* backend, const wasinn_blob* const* blobs, size_t,
                   const wasinn_load_options* options, wasinn_backend_model** out) {
  auto model = std::make_unique<wasinn_backend_model>();
  model->backend = backend;
  const auto* text = reinterpret_cast<const char*>(blobs[0]->data);
  if (blobs[0]->size < 4 || std::string_view(text, 4) != "GGUF") return Fail(WASINN_INVALID_ENCODING, "no GGUF");
  wasinn::echo::ReadModel(*model, std::string_view(text + 4, blobs[0]->size - 4));
  model->description = std::string(R"({"guest_config": )") + options->guest_config + "}";
  if (options->target == WASINN_GPU && options->cpu_fallback == 0) {
    return Fail(WASINN_UNSUPPORTED_OPERATION, "echo has no gpu");
  }
  if (!Work(model->load_delay_ms, model->load_gate, *options)) return Fail(WASINN_RUNTIME_ERROR, "load cancelled");
  if (!model->says.empty()) backend->services.log(backend->services.host, WASINN_LOG_WARNING, model->says.c_str());
  if (model->fail_load != 0) {
    return Fail(model->fail_load, model->says.empty() ? "load fails as the model says" : model->says);
  }
  if (wasinn_error* error =
          Keep(model->kept, *backend, wasinn::backend::ReadStruct(options).account, model->load_keeps)) {
    return error;
  }
  ++backend->models;
  *out = model.release();
  return nullptr;
}

void Unload(wasinn_backend_model* model) {
  Pass(model->unload_gate, false);
  --model->backend->models;
  delete model;
}

wasinn_error* Info(wasinn_backend_model* model, const wasinn_info** out) {
  *out = &model->info;
  return nullptr;
}

wasinn_error* ContextNew(wasinn_backend_model* model, const wasinn_context_options* options,
                         wasinn_backend_context** out) {
  if (model->context_delay_ms > 0 && !Work(model->context_delay_ms, "", *options)) {
    return Fail(WASINN_RUNTIME_ERROR, "making the context was cancelled");
  }
  auto context = std::make_unique<wasinn_backend_context>();
  context->model = model;
  void* const account = wasinn::backend::ReadStruct(options).account;
  if (wasinn_error* error = Keep(context->kept, *model->backend, account, model->keeps)) return error;
  context->mood.Set(options->guest_config);
  context->inputs.resize(model->ios.size());
  context->outputs.resize(model->ios.size());
  ++model->backend->contexts;
  *out = context.release();
  return nullptr;
}

void ContextFree(wasinn_backend_context* context) {
  --context->model->backend->contexts;
  delete context;
}

bool WorkOn(wasinn_backend_context* context) {
  context->cancelled.store(false);
  context->running.store(true);
  const bool done = Work(context->model->delay_ms, context->model->gate, context->cancelled);
  context->running.store(false);
  return done;
}

wasinn_error* Step(wasinn_backend_context* context) {
  const wasinn_backend_model& model = *context->model;
  if (model.piece == 0) return Fail(WASINN_UNSUPPORTED_OPERATION, "this model has no pieces");
  if (wasinn_error* error = CheckInputs(context)) return error;
  if (!context->generating) context->generated.Set({});
  context->generating = true;
  if (!WorkOn(context)) return Fail(WASINN_RUNTIME_ERROR, "step cancelled");
  const wasinn_tensor& input = context->inputs[0].tensor;
  const size_t done = context->generated.size();
  if (done == input.bytes) return Fail(WASINN_END_OF_SEQUENCE, "all is said");
  if (done >= model.room) return Fail(WASINN_CONTEXT_FULL, "no room is left");
  const size_t size = std::min(model.piece, input.bytes - done);
  context->piece.Set({static_cast<const char*>(input.data) + done, size});
  context->generated.Append(static_cast<const char*>(input.data) + done, size);
  return nullptr;
}

wasinn_error* Piece(wasinn_backend_context* context, uint32_t, wasinn_tensor* view) {
  WriteStruct(view, context->piece.View());
  return nullptr;
}

wasinn_error* Finish(wasinn_backend_context* context) {
  context->generating = false;
  return nullptr;
}

void Outgrow(Buffer& output, size_t bytes) {
  const auto dim = static_cast<int64_t>(bytes);
  wasinn_tensor tensor = output.tensor;
  tensor.dtype = WASINN_U8;
  tensor.rank = 1;
  tensor.dims = &dim;
  tensor.bytes = bytes;
  output.Set(tensor);
}

wasinn_error* Compute(wasinn_backend_context* context, wasinn_compute_result*) {
  context->generating = false;
  if (context->model->piece != 0) {
    wasinn_error* error = nullptr;
    while (error == nullptr) error = Step(context);
    context->generating = false;
    if (error->code != WASINN_END_OF_SEQUENCE) return error;
    error->release(error);
    return nullptr;
  }
  for (Buffer& output : context->outputs) output = {};  // what nobody wants, or an error, is not there
  if (wasinn_error* error = CheckInputs(context)) return error;
  if (!WorkOn(context)) return Fail(WASINN_RUNTIME_ERROR, "compute cancelled");
  if (context->model->fail != 0) return Fail(context->model->fail, "compute fails as the model says");
  for (size_t i = 0; i < context->inputs.size(); ++i) {
    const wasinn_tensor& input = context->inputs[i].tensor;
    Buffer& output = context->outputs[i];
    if (!context->wanted.empty() && std::ranges::find(context->wanted, i) == context->wanted.end()) continue;
    output.Set(input, context->model->alias ? input.data : nullptr);
    if (input.bytes > 0 && !context->model->alias) std::memcpy(output.bytes.data(), input.data, input.bytes);
    if (context->model->outgrows > 0) Outgrow(output, context->model->outgrows);
  }
  return nullptr;
}

wasinn_error* Output(wasinn_backend_context* context, uint32_t index, wasinn_tensor* view) {
  if (wasinn_error* error = CheckIndex(context, index)) return error;
  if ((context->model->ios[index]->io.flags & WASINN_IO_ALWAYS) != 0) {
    WriteStruct(view, context->mood.View());
    return nullptr;
  }
  if (context->model->piece != 0) {
    WriteStruct(view, context->generated.View());
    return nullptr;
  }
  if (wasinn_error* error = CheckOutput(context, index)) return error;
  WriteStruct(view, context->outputs[index].tensor);
  if (context->model->outranks > 0) view->rank = context->model->outranks;
  return nullptr;
}

void DiscardOutputs(wasinn_backend_context* context) {
  for (Buffer& output : context->outputs) output = {};
  context->generated.Set({});
}

wasinn_error* BindInput(wasinn_backend_context* context, uint32_t index, const wasinn_tensor* tensor) {
  if (wasinn_error* error = CheckIndex(context, index)) return error;
  context->inputs[index].Set(*tensor, tensor->data);
  return nullptr;
}

void UnbindInput(wasinn_backend_context* context, uint32_t index) { context->inputs[index] = {}; }

// The bytes of an output, away from its context.
struct Taken {
  wasinn_backend_state* backend;
  Buffer buffer;
};

wasinn_error* TakeOutput(wasinn_backend_context* context, uint32_t index, wasinn_tensor* out) {
  if (wasinn_error* error = CheckOutput(context, index)) return error;
  if (context->model->untakeable) return Fail(WASINN_RUNTIME_ERROR, "it stays here");
  auto* taken = new Taken{context->model->backend, std::move(context->outputs[index])};
  context->outputs[index] = {};
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

wasinn_error* WantOutputs(wasinn_backend_context* context, const uint32_t* indices, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const auto& ios = context->model->ios;
    if (indices[i] < ios.size() && (ios[indices[i]]->io.flags & WASINN_IO_UNSERVABLE) == 0) continue;
    return Fail(WASINN_UNSUPPORTED_OPERATION, "nobody can want that output");
  }
  context->wanted.assign(indices, indices + n);
  return nullptr;
}

wasinn_error* Outputs(wasinn_backend_context* context, const wasinn_io* const** out, uint32_t* n) {
  *out = context->model->pointers.data();
  *n = context->model->info.n_inputs;
  return nullptr;
}

const char* Describe(wasinn_backend_model* model) { return model->description.c_str(); }

void Cancel(wasinn_backend_context* context) {
  if (context->running.load() && !context->model->deaf) context->cancelled.store(true);
}

constexpr wasinn_encoding kEncodings[] = {WASINN_GGML};
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
                                   .encodings = kEncodings,
                                   .n_encodings = std::size(kEncodings),
                                   .keys = kKeys,
                                   .n_keys = std::size(kKeys),
                                   .install = "",
                                   .open = Open,
                                   .close = Close,
                                   .backend_info = BackendInfo,
                                   .load = Load,
                                   .unload = Unload,
                                   .info = Info,
                                   .context_new = ContextNew,
                                   .context_free = ContextFree,
                                   .bind_input = BindInput,
                                   .unbind_input = UnbindInput,
                                   .compute = Compute,
                                   .output = Output,
                                   .cancel = Cancel,
                                   .discard_outputs = DiscardOutputs,
                                   .take_output = TakeOutput,
                                   .want_outputs = WantOutputs,
                                   .outputs = Outputs,
                                   .describe = Describe,
                                   .step = Step,
                                   .piece = Piece,
                                   .finish = Finish};

}  // namespace

const wasinn_backend* wasinn_backend_query(uint16_t major, uint16_t) {
  return major == WASINN_BACKEND_ABI_MAJOR ? &kTable : nullptr;
}
