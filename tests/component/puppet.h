// A component that makes the calls that a test asks for: each function of wasi:nn is exported again with u32 for every parameter
// of the canonical ABI, so that a test says which bytes lie where in the guest's memory, and sees what comes back.
#pragma once

#include <wasinn/wasmtime.h>

#include <atomic>
#include <cstdint>
#include <expected>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::testing {

inline constexpr char kOctober[] = "0.2.0-rc-2024-10-28";
inline constexpr char kAugust[] = "0.2.0-rc-2024-08-19";
inline constexpr char kJune[] = "0.2.0-rc-2024-06-25";

// The component's text, for one of these versions. `pages` of memory, 64 KiB each; `encoding` of its strings.
std::string PuppetText(std::string_view version, int pages = 16, std::string_view encoding = "utf8");

// How functions are called: so that the thread waits, or by futures that rest while the host does what may block.
enum class PuppetCalls { kWait, kAsync };
// For tests that run in both ways: the environment variable PUPPET_CALLS is "async", or not there.
PuppetCalls UsualPuppetCalls();
// wasi:nn in a linker, for guests that are their store's data.
wasinn_status* LinkPuppets(wasmtime_component_linker_t* linker, PuppetCalls calls = UsualPuppetCalls());
// How often a puppet was woken.
std::atomic<int>& PuppetWakes();

// Compiled and linked once, for any number of guests.
class PuppetShow {
 public:
  // With one engine for all, and one linker for all such calls. Exits with a message if anything fails.
  explicit PuppetShow(std::string_view text, PuppetCalls calls = UsualPuppetCalls());
  // With a linker that LinkPuppets has linked for such calls.
  PuppetShow(wasm_engine_t* engine, wasmtime_component_linker_t* linker, std::string_view text,
             PuppetCalls calls = UsualPuppetCalls());
  // The one of this version.
  static const PuppetShow& Of(std::string_view version, PuppetCalls calls = UsualPuppetCalls());
  ~PuppetShow();
  PuppetShow(const PuppetShow&) = delete;
  PuppetShow& operator=(const PuppetShow&) = delete;

  wasm_engine_t* engine() const { return engine_; }
  const wasinn_wasmtime_component_pre* pre() const { return pre_; }
  PuppetCalls calls() const { return calls_; }

 private:
  wasm_engine_t* engine_;
  const PuppetCalls calls_;
  wasinn_wasmtime_component_pre* pre_ = nullptr;
};

class Puppet {
 public:
  // `data` is the store's.
  Puppet(const PuppetShow& show, void* data);
  ~Puppet();
  Puppet(const Puppet&) = delete;
  Puppet& operator=(const Puppet&) = delete;

  wasmtime_context_t* context() const { return wasmtime_store_context(store_); }

  // A call that rests now and then. Until it is deleted, no other one of this puppet begins.
  class Future {
   public:
    ~Future();
    Future(const Future&) = delete;
    Future& operator=(const Future&) = delete;

    // True: it has ended, now or before.
    bool Poll();
    // To its end, polling when a puppet is woken. As Try.
    std::expected<uint32_t, std::string> Run();

   private:
    friend Puppet;
    Future() = default;

    bool ended_ = false;
    wasmtime_component_func_t function_;
    std::vector<wasmtime_component_val_t> args_;
    wasmtime_component_val_t result_ = {};
    wasmtime_error_t* error_ = nullptr;
    wasmtime_call_future_t* future_ = nullptr;
  };
  std::unique_ptr<Future> Begin(std::string_view function, std::initializer_list<uint32_t> args);

  // The function's result, 0 if it has none; or the message of the trap. After one no call succeeds.
  std::expected<uint32_t, std::string> Try(std::string_view function, std::initializer_list<uint32_t> args);
  // The same if it must succeed; a trap fails the test.
  uint32_t Call(std::string_view function, std::initializer_list<uint32_t> args);
  // Calls a function that writes a result at kResult, which must be no error. Returns the resource in it.
  uint32_t Good(std::string_view function, std::initializer_list<uint32_t> args);
  static constexpr uint32_t kResult = 128;

  // Guest memory. What is lowered into it comes from 512 KiB on.
  uint32_t Peek(uint32_t address) { return Call("peek", {address}); }
  std::string PeekBytes(uint32_t address, uint32_t size);
  void Poke(uint32_t address, std::string_view bytes);
  void PokeWords(uint32_t address, std::initializer_list<uint32_t> words);
  // The bytes of the list that lies at kResult.
  std::string ResultBytes() { return PeekBytes(Peek(kResult), Peek(kResult + 4)); }

 private:
  // An error: the puppet has no such function.
  std::expected<wasmtime_component_func_t, std::string> Find(std::string_view function);

  const PuppetCalls calls_;
  wasmtime_store_t* store_;
  wasmtime_component_instance_t instance_;
};

}  // namespace wasinn::testing
