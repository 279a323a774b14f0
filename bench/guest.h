// The guest side: a core module, bench/guests/bench.c, or a component, bench/guests/bench_component.wat or
// bench_async_component.wat.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/runner.h"
#include "engines/engine.h"

namespace wasinn::bench {

class GuestRunner : public Runner {
 public:
  // `n` inferences in one call, by the guest's own loop if it has one.
  virtual bool RunMany(uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) {
      if (!Run()) return false;
    }
    return true;
  }
  // Calls a function of the guest that does nothing. This is the part of Run that belongs to the bench.
  virtual bool CallNothing() = 0;
  virtual std::span<const uint8_t> output(size_t i) const = 0;  // in the guest's memory
  virtual wasinn_statistics Statistics() const = 0;
};

// The compiled guest, which can make any number of guests.
class GuestProgram {
 public:
  virtual ~GuestProgram() = default;
  // A guest that runs the host's model `name`. The sizes of its outputs are known. The program must outlive the guest.
  virtual Result<std::unique_ptr<GuestRunner>> NewGuest(const Host& host, const std::string& name,
                                                        const std::vector<Tensor>& inputs,
                                                        const std::vector<Tensor>& outputs) const = 0;
};

// The bytes of the guest as a core module; empty if it could not be compiled.
struct ModuleBytes {
  const unsigned char* data;
  unsigned long size;
};
// `engine` is wasmtime or wamr. With `once`, an inference is one call. `pool` is Wasmtime's.
Result<std::unique_ptr<GuestProgram>> CompileModule(const std::string& engine, bool once,
                                                    const engines::Pool& pool = {});
Result<std::unique_ptr<GuestProgram>> CompileModuleForWasmtime(const ModuleBytes& module,
                                                               const engines::Pool& pool = {});
Result<std::unique_ptr<GuestProgram>> CompileModuleForWamr(const ModuleBytes& module);
// `is_async`: of wasi:nn@0.3.0-draft.
Result<std::unique_ptr<GuestProgram>> CompileComponent(bool is_async);

}  // namespace wasinn::bench
