#include "common/table.h"
#include "remote/context.h"
#include "remote/host.h"
#include "remote/model.h"

extern "C" WASINN_BACKEND_EXPORT const wasinn_backend* wasinn_remote_runtime() {
  using wasinn::backend::TableOf;
  // Only the backend library reports the identity.
  static const wasinn_backend table =
      TableOf<wasinn::remote::Host, wasinn::remote::Model, wasinn::remote::Context>::Make(
          {.name = "remote", .version = WASINN_BACKEND_VERSION, .formats = {}, .keys = {}, .install = ""});
  return &table;
}
