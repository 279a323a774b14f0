// The guest side: a core module, bench/guests/bench.c, or a component, bench/guests/bench_component.wat.
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
  // `n` inferences in one call, by a loop of the guest's own where it has one.
  virtual bool RunMany(uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) {
      if (!Run()) return false;
    }
    return true;
  }
  // Calls a function of the guest that does nothing: the part of Run that is the bench's own.
  virtual bool CallNothing() = 0;
  virtual std::span<const uint8_t> output(size_t i) const = 0;  // in the guest's memory
  virtual wasinn_statistics Statistics() const = 0;
};

// The compiled guest, from which any number of guests are made.
class GuestProgram {
 public:
  virtual ~GuestProgram() = default;
  // A guest that runs the host's model `name`. Sizes of outputs are known; the program must outlive the guest.
  virtual Result<std::unique_ptr<GuestRunner>> NewGuest(const Host& host, const std::string& name,
                                                        const std::vector<Tensor>& inputs,
                                                        const std::vector<Tensor>& outputs) const = 0;
};

// A core module: its bytes, none where it could not be compiled.
struct ModuleBytes {
  const unsigned char* data;
  unsigned long size;
};
// `engine`: wasmtime or wamr. `once`: an inference is one call. `pool`: of Wasmtime.
Result<std::unique_ptr<GuestProgram>> CompileModule(const std::string& engine, bool once,
                                                    const engines::Pool& pool = {});
Result<std::unique_ptr<GuestProgram>> CompileModuleForWasmtime(const ModuleBytes& module,
                                                               const engines::Pool& pool = {});
Result<std::unique_ptr<GuestProgram>> CompileModuleForWamr(const ModuleBytes& module);
Result<std::unique_ptr<GuestProgram>> CompileComponent();

}  // namespace wasinn::bench
