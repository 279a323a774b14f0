// What holds a guest to its limits: settings of an engine, and of each store.
#pragma once

#include <wasmtime.h>

#include <string>
#include <vector>

#include "engines/engine.h"
#include "engines/guest_run.h"
#include "engines/memories.h"

namespace wasinn::wasmtime {

// What the limits of a program's stores go by.
struct LimitedCode {
  std::vector<engines::MemoryType> memories;
  bool is_metered = false;  // counts fuel, and has none of it unless it is given some
  // Of a component: what LargestInstance says. 0: there is one instance, or whoever compiled it is trusted.
  uint64_t instance_bytes = 0;
  uint64_t tables = 0;  // that its modules define; 0: none, or nobody has looked
};

// Of all stores of a program. An error if the program cannot keep to its limits.
class StoreLimits {
 public:
  // `n_stores`: that one run may have at once. Their garbage-collected objects together have what is for one store.
  static engines::Result<StoreLimits> New(const LimitedCode& code, const engines::RunOptions& options,
                                          uint64_t n_stores = 1);

  // Before anything is instantiated in a store.
  void Hold(wasmtime_store_t* store) const;

 private:
  // Each table, so that all together keep to what the limit of memory leaves for them.
  void LimitTables(const LimitedCode& code, const engines::RunOptions& options);

  int64_t memory_bytes_ = -1, memories_ = -1, table_elements_ = -1, tables_ = -1, instances_ = -1;
  uint64_t fuel_ = 0;
};

// Has what runs in a store end when `run` is interrupted, which outlives it, and the engine's epoch comes after that. It
// does where the engine's code looks at the epoch.
void EndWith(wasmtime_store_t* store, const engines::GuestRun& run);

}  // namespace wasinn::wasmtime
