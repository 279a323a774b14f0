#include <algorithm>

#include "abi/wit/wit.h"
#include "api/objects.h"
#include "core/c_struct.h"
#include "core/host/guest.h"

namespace {

// For lists other than tensors and models: names, dimensions, the list of named tensors itself.
constexpr uint64_t kSmallLists = 1 << 20;

wasinn_wit_limits LimitsOf(const wasinn_limits& limits) {
  // A guest can pass no more than its own memory, except by naming a part of it several times.
  const uint64_t most = std::min(std::max(limits.max_model_bytes, limits.max_tensor_bytes), limits.max_memory_bytes);
  const uint64_t handles = uint64_t{limits.max_graphs} + limits.max_contexts + limits.max_tensors + limits.max_errors;
  return {.struct_size = sizeof(wasinn_wit_limits),
          .max_call_bytes = most > UINT64_MAX - kSmallLists ? UINT64_MAX : most + kSmallLists,
          .max_handles = static_cast<uint32_t>(std::min<uint64_t>(handles, UINT32_MAX))};
}

}  // namespace

const wasinn_wit_functions* wasinn_wit(void) { return &wasinn::abi::WitFunctions(); }

wasinn_status* wasinn_wit_guest_limits(const wasinn_guest* guest, wasinn_wit_limits* out) {
  return wasinn::api::Guard(
      [&] { return wasinn::core::WriteStruct(*out, LimitsOf(guest->limits()), "wasinn_wit_limits"); });
}
