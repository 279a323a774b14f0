// An engine that wasinn has no adapter for, served through the table of wasinn.h: wasm3. docs/engine-guide.md explains
// this file and wasm3_guest.cc, and quotes them.
#pragma once

#include <wasinn/engine.h>
#include <wasm3.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace wasinn::testing {

// One guest program: a module, its memory, and its wasinn_guest. Used by one thread at a time, but for Stop.
class Wasm3Guest {
 public:
  // Takes the bytes of a module. `host` is needed no longer than this.
  Wasm3Guest(wasinn_host* host, std::vector<uint8_t> wasm);
  ~Wasm3Guest();
  Wasm3Guest(const Wasm3Guest&) = delete;
  Wasm3Guest& operator=(const Wasm3Guest&) = delete;

  // Why there is no guest; "" if there is one.
  const std::string& error() const { return error_; }
  // Calls an exported function. Returns the trap, "" if there was none.
  std::string Run(const char* function);
  // From another thread: ends what the guest runs on the host's frameworks, and the guest at its next call.
  void Stop();

  // For functions of the embedder's own.
  IM3Module module() const { return module_; }
  wasinn_guest* guest() const { return guest_; }

 private:
  // One function of the table, for this guest.
  struct Binding {
    const wasinn_function* function;
    Wasm3Guest* program;
  };
  static const void* Dispatch(IM3Runtime runtime, uint64_t* slots, void* memory, void* user);
  void Start(wasinn_host* host);
  void Link();
  void Must(M3Result result);

  const std::vector<uint8_t> wasm_;  // wasm3 reads it as long as the guest lives
  IM3Environment environment_ = nullptr;
  IM3Runtime runtime_ = nullptr;
  IM3Module module_ = nullptr;
  wasinn_guest* guest_ = nullptr;
  std::vector<Binding> bindings_;
  std::atomic<bool> stopped_ = false;
  std::string error_;
};

}  // namespace wasinn::testing
