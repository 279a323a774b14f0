// One run of a program in a store of its own.
#pragma once

#include <wasmtime.h>

#include <vector>

#include "engines/engine.h"
#include "engines/guest_run.h"
#include "engines/memories.h"
#include "engines/wasmtime/handles.h"
#include "engines/wasmtime/store_limits.h"

namespace wasinn::wasmtime {

// Calls `body` for the store and its run, within the limits of `options`, and returns its result. The store's data is
// the guest.
template <typename Body>  // engines::Exit(wasmtime_context_t* context, const engines::GuestRun& run)
engines::Exit RunInStore(const EnginePtr& engine, const LimitedCode& code, const engines::RunOptions& options,
                         const Body& body) {
  const engines::Result<StoreLimits> limits = StoreLimits::New(code, options);
  if (!limits) return engines::Exit::Failed(limits.error());
  engines::GuestRun run(options.guest, [&engine] { wasmtime_engine_increment_epoch(engine.get()); });
  if (!run.begun()) return engines::Exit::Failed(run.begun().error());
  const StorePtr store(wasmtime_store_new(engine.get(), options.guest, nullptr));
  limits->Hold(store.get());
  EndWith(store.get(), run.interrupted());
  engines::Exit exit = run.End(body(wasmtime_store_context(store.get()), run));
  if (options.guest != nullptr) wasinn_guest_close(options.guest);  // before the store, which has the memory
  return exit;
}

}  // namespace wasinn::wasmtime
