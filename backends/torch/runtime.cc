#include "common/table.h"
#include "torch/context.h"
#include "torch/host.h"
#include "torch/model.h"

// What libwasinn_backend_torch.so calls (loader.cc).
extern "C" WASINN_BACKEND_EXPORT const wasinn_backend* wasinn_torch_runtime() {
  using wasinn::backend::TableOf;
  // The identity is the backend's to tell.
  static const wasinn_backend table = TableOf<wasinn::torch::Host, wasinn::torch::Model, wasinn::torch::Context>::Make(
      {.name = "torch", .version = WASINN_BACKEND_VERSION, .formats = {}, .keys = {}, .install = ""});
  return &table;
}
