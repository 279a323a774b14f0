// A program that embeds Wasmtime and wasinn, as anyone's would: one engine, one linker and one host for all guests.
#pragma once

#include <wasi.h>
#include <wasinn/wasmtime.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>
#include <wasinn/wasinn.hpp>

namespace wasinn::testing {

template <auto kDelete>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    kDelete(object);
  }
};
template <typename T, auto kDelete>
using Owned = std::unique_ptr<T, Deleter<kDelete>>;
using StorePtr = Owned<wasmtime_store_t, wasmtime_store_delete>;
using SharedMemoryPtr = Owned<wasmtime_sharedmemory_t, wasmtime_sharedmemory_delete>;

class Embedder {
 public:
  // `toml`: the host's configuration. The host has the models "digits" and "dynamic", "endless".
  explicit Embedder(const std::string& toml = "");

  // Runs a guest of this folder with WASI to its end; its output goes to a file. Returns how it ended, "" for well.
  std::string RunProgram(const std::string& program, const std::vector<std::string>& args, const std::string& output);

  wasm_engine_t* engine() const { return engine_.get(); }
  wasmtime_linker_t* linker() const { return linker_.get(); }
  Host& host() { return *host_; }
  // What the host logged so far.
  std::vector<std::string> log() const;

 private:
  void LinkAll();
  std::string RunStart(wasmtime_context_t* context, const wasmtime_module_t* module);

  mutable std::mutex log_mutex_;
  std::vector<std::string> log_;
  std::unique_ptr<Host> host_;
  Owned<wasm_engine_t, wasm_engine_delete> engine_;
  Owned<wasmtime_linker_t, wasmtime_linker_delete> linker_;
};

// A guest without a will of its own: the test calls wasi_ephemeral_nn through its instance, and reads and writes its
// memory. One thread at a time; several puppets may share a guest and a memory.
class Puppet {
 public:
  // `shared`: the memory to use; NULL: one of its own, of one page.
  Puppet(Embedder& embedder, wasinn_guest* guest, wasmtime_sharedmemory_t* shared = nullptr);

  // Calls a function, and returns the errno.
  uint32_t Call(const std::string& function, const std::vector<uint32_t>& args);
  // Ends this instance in a trap, and says in which.
  std::string Trap();
  uint8_t* memory();
  template <typename T>
  void Put(uint32_t address, const std::vector<T>& values) {
    if (!values.empty()) std::memcpy(memory() + address, values.data(), values.size() * sizeof(T));
  }
  uint32_t Read(uint32_t address);

  // Both end the test if they fail.
  uint32_t LoadByName(const std::string& name);
  uint32_t NewContext(uint32_t graph);
  // A tensor descriptor at `address`, which the dims follow; `data` lies in memory already.
  void PutTensor(uint32_t address, const std::vector<uint32_t>& dims, uint32_t type, uint32_t data, uint32_t size);

 private:
  wasmtime_context_t* context() { return wasmtime_store_context(store_.get()); }
  wasmtime_extern_t Export(const std::string& name);

  wasmtime_sharedmemory_t* const shared_;
  StorePtr store_;
  wasmtime_instance_t instance_;
};

// A memory of `pages` pages that several instances can have.
SharedMemoryPtr NewSharedMemory(Embedder& embedder, uint32_t pages);

}  // namespace wasinn::testing
