#include "engines/wasmtime/store_limits.h"

#include <algorithm>

namespace wasinn::wasmtime {
namespace {

using engines::Result;

constexpr uint64_t kMaxTables = 100;  // a module's limit; a component could define them many times
constexpr uint64_t kFewTables = 16;   // for further modules, or several instances of these
// Bytes of an element, doubled: a growing table is copied.
constexpr uint64_t kTableElement = 2 * sizeof(void*);
constexpr uint64_t kInstances = uint64_t{64} << 20;  // bytes of all instances, if the limit of memory is smaller

wasmtime_error_t* OnEpoch(wasmtime_context_t*, void* flag, uint64_t* delta, wasmtime_update_deadline_kind_t*) {
  *delta = 1;
  return *static_cast<const std::atomic<bool>*>(flag) ? wasmtime_error_new("the guest is interrupted") : nullptr;
}

}  // namespace

Result<StoreLimits> StoreLimits::New(const LimitedCode& code, const engines::RunOptions& options, uint64_t n_stores) {
  const Result<uint64_t> each = engines::ShareOfMemory(code.memories, options.max_memory_bytes);
  if (!each) return std::unexpected(each.error());
  StoreLimits limits;
  if (*each <= INT64_MAX) {
    limits.memory_bytes_ = static_cast<int64_t>(*each / n_stores);  // none of them counts a shared memory
    limits.memories_ = static_cast<int64_t>(code.memories.size());
  }
  if (options.max_memory_bytes != UINT64_MAX && code.instance_bytes != 0) {
    const uint64_t instances = std::max(options.max_memory_bytes, kInstances) / code.instance_bytes;
    limits.instances_ = static_cast<int64_t>(std::clamp<uint64_t>(instances, 1, INT32_MAX));
  }
  limits.LimitTables(code, options);
  limits.fuel_ = options.max_fuel == 0 && code.is_metered ? UINT64_MAX : options.max_fuel;
  return limits;
}

void StoreLimits::LimitTables(const LimitedCode& code, const engines::RunOptions& options) {
  uint64_t elements = options.max_table_elements, tables = kMaxTables;
  if (options.max_memory_bytes != UINT64_MAX) {
    // The modules of a component may have several instances each.
    tables = std::clamp(code.instance_bytes == 0 ? code.tables : 4 * code.tables, uint64_t{1}, kMaxTables);
    if (code.tables == 0) tables = kFewTables;
    elements = std::min(elements, engines::ShareOfTables(options.max_memory_bytes) / kTableElement / tables);
  }
  if (elements > INT64_MAX) return;
  table_elements_ = static_cast<int64_t>(elements);
  tables_ = static_cast<int64_t>(tables);
}

void StoreLimits::Hold(wasmtime_store_t* store) const {
  wasmtime_store_limiter(store, memory_bytes_, table_elements_, instances_, tables_, memories_);
  if (fuel_ == 0) return;
  wasmtime_error_t* error = wasmtime_context_set_fuel(wasmtime_store_context(store), fuel_);
  if (error != nullptr) wasmtime_error_delete(error);  // of an engine without fuel, which Run has refused
}

void EndWith(wasmtime_store_t* store, const std::atomic<bool>& is_interrupted) {
  wasmtime_store_epoch_deadline_callback(store, OnEpoch, const_cast<std::atomic<bool>*>(&is_interrupted), nullptr);
  wasmtime_context_set_epoch_deadline(wasmtime_store_context(store), 1);
}

}  // namespace wasinn::wasmtime
