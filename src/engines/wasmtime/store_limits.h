// Holds a guest to its limits, by settings of an engine and of each store.
#pragma once

#include <wasmtime.h>

#include <atomic>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "engines/memories.h"

namespace wasinn::wasmtime {

// The facts about a program that its stores' limits depend on.
struct LimitedCode {
  std::vector<engines::MemoryType> memories;
  bool is_metered = false;  // counts fuel, and has none by default
  // For a component: the result of LargestInstance. 0: there is one instance, or its compiler is trusted.
  uint64_t instance_bytes = 0;
  uint64_t tables = 0;  // tables that its modules define; 0: none, or unknown
};

// The limits for all stores of a program. An error if the program cannot keep to its limits.
class StoreLimits {
 public:
  // `n_stores`: the most of one run at once. Their garbage-collected objects together have the limit of one store.
  static engines::Result<StoreLimits> New(const LimitedCode& code, const engines::RunOptions& options,
                                          uint64_t n_stores = 1);

  // Call it before anything is instantiated in a store.
  void Hold(wasmtime_store_t* store) const;

 private:
  // Limits each table, so that all tables together keep to their part of the limit of memory.
  void LimitTables(const LimitedCode& code, const engines::RunOptions& options);

  int64_t memory_bytes_ = -1, memories_ = -1, table_elements_ = -1, tables_ = -1, instances_ = -1;
  uint64_t fuel_ = 0;
};

// Ends the code in a store when `is_interrupted`, which outlives it, is true and the engine's epoch comes after that. It
// needs code that checks the epoch.
void EndWith(wasmtime_store_t* store, const std::atomic<bool>& is_interrupted);

}  // namespace wasinn::wasmtime
