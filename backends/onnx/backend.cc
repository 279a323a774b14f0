// The backend's table of functions.
#include <wasinn/backend.h>

#include <memory>

#include "common/abi.h"
#include "common/error.h"
#include "onnx/config.h"
#include "onnx/context.h"
#include "onnx/host.h"
#include "onnx/model.h"

struct wasinn_backend_state : wasinn::onnx::Host {
  using Host::Host;
};
struct wasinn_backend_model : wasinn::onnx::Model {
  using Model::Model;
};
struct wasinn_backend_context : wasinn::onnx::Context {
  using Context::Context;
};

namespace wasinn::onnx {

namespace {

using backend::Error;
using backend::Guard;
using backend::ReadStruct;

wasinn_error* Open(const wasinn_host_services* services, const char* config, wasinn_backend_state** out) {
  return Guard([&] { *out = new wasinn_backend_state(ReadStruct(services), config); });
}

void Close(wasinn_backend_state* backend) { delete backend; }

wasinn_error* BackendInfo(wasinn_backend_state* backend, const wasinn_backend_info** out) {
  *out = backend->info();
  return nullptr;
}

wasinn_error* Load(wasinn_backend_state* backend, const wasinn_blob* const* blobs, size_t n_blobs,
                   const wasinn_load_options* options, wasinn_backend_model** out) {
  return Guard([&] {
    if (n_blobs != 1) {
      throw Error(WASINN_INVALID_ARGUMENT, "an ONNX model is one blob: found " + std::to_string(n_blobs));
    }
    const wasinn_load_options read = ReadStruct(options);
    if (read.encoding != WASINN_ONNX) throw Error(WASINN_INVALID_ENCODING, "this backend loads ONNX models");
    *out = new wasinn_backend_model(*backend, ReadStruct(blobs[0]), read);
  });
}

void Unload(wasinn_backend_model* model) { delete model; }

wasinn_error* Info(wasinn_backend_model* model, const wasinn_info** out) {
  *out = model->signature().info();
  return nullptr;
}

wasinn_error* ContextNew(wasinn_backend_model* model, const wasinn_context_options* options,
                         wasinn_backend_context** out) {
  return Guard([&] { *out = new wasinn_backend_context(*model, ReadStruct(options)); });
}

void ContextFree(wasinn_backend_context* context) { delete context; }

wasinn_error* Input(wasinn_backend_context* context, uint32_t index, wasinn_tensor* tensor) {
  return Guard([&] { context->Input(index, tensor); });
}

wasinn_error* Compute(wasinn_backend_context* context) {
  return Guard([&] { context->Compute(); });
}

wasinn_error* Output(wasinn_backend_context* context, uint32_t index, wasinn_tensor* view) {
  return Guard([&] { context->Output(index, view); });
}

wasinn_error* BindInput(wasinn_backend_context* context, uint32_t index, const wasinn_tensor* tensor) {
  return Guard([&] { context->BindInput(index, ReadStruct(tensor)); });
}

void UnbindInput(wasinn_backend_context* context, uint32_t index) { context->UnbindInput(index); }

wasinn_error* TakeOutput(wasinn_backend_context* context, uint32_t index, wasinn_tensor* out) {
  return Guard([&] { context->TakeOutput(index, out); });
}

void Cancel(wasinn_backend_context* context) { context->Cancel(); }

void DiscardOutputs(wasinn_backend_context* context) {
  if (wasinn_error* error = Guard([&] { context->DiscardOutputs(); })) error->release(error);
}

constexpr wasinn_encoding kEncodings[] = {WASINN_ONNX};

const wasinn_backend* Table() {
  static const wasinn_backend table = {
      .struct_size = sizeof(wasinn_backend),
      .abi_major = WASINN_BACKEND_ABI_MAJOR,
      .abi_minor = WASINN_BACKEND_ABI_MINOR,
      .name = "onnx",
      .version = WASINN_BACKEND_VERSION,
      .encodings = kEncodings,
      .n_encodings = std::size(kEncodings),
      .keys = Keys().data(),
      .n_keys = Keys().size(),
      .install = "scripts/deps.sh onnxruntime",
      .open = Open,
      .close = Close,
      .backend_info = BackendInfo,
      .load = Load,
      .unload = Unload,
      .info = Info,
      .context_new = ContextNew,
      .context_free = ContextFree,
      .input = Input,
      .compute = Compute,
      .output = Output,
      .cancel = Cancel,
      .discard_outputs = DiscardOutputs,
      .bind_input = BindInput,
      .unbind_input = UnbindInput,
      .take_output = TakeOutput,
  };
  return &table;
}

}  // namespace

}  // namespace wasinn::onnx

const wasinn_backend* wasinn_backend_query(uint16_t host_abi_major, uint16_t /*host_abi_minor*/) {
  return host_abi_major == WASINN_BACKEND_ABI_MAJOR ? wasinn::onnx::Table() : nullptr;
}
