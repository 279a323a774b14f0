// A guest without an engine: it calls the functions of wasinn.h on its own memory. Errors are thrown.
#pragma once

#include <wasinn/engine.h>
#include <cstdint>
#include <cstring>
#include <expected>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>
#include <wasinn/wasinn.hpp>

namespace wasinn::bench {

inline void Must(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}
template <typename T>
T Must(std::expected<T, std::string> result) {
  if (!result) throw std::runtime_error(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// Has the model "m", and no others.
inline Host HostOf(const Config& config, const ModelOptions& model) {
  wasinn::Result<Host> host = Host::Create(config);
  Must(host.status());
  Must(host->AddModel("m", model));
  return std::move(*host);
}

// A function of wasi_ephemeral_nn, by its name in the interface.
inline const wasinn_function& Find(std::string_view name) {
  size_t count = 0;
  const wasinn_function* const* functions = wasinn_functions(&count);
  for (size_t i = 0; i < count; ++i) {
    if (functions[i]->module == std::string_view("wasi_ephemeral_nn") && functions[i]->name == name)
      return *functions[i];
  }
  throw std::runtime_error("there is no function " + std::string(name));
}

class DirectGuest {
 public:
  DirectGuest(const Host& host, size_t memory) : guest_(Create(host)), memory_(memory) {}

  uint8_t* at(uint32_t address) { return &memory_[address]; }
  uint32_t Word(uint32_t address) const {
    uint32_t word = 0;
    std::memcpy(&word, &memory_[address], sizeof word);
    return word;
  }
  void SetWords(uint32_t address, const std::vector<uint32_t>& words) {
    std::memcpy(&memory_[address], words.data(), words.size() * sizeof(uint32_t));
  }

  // A call of one function, made repeatedly, which the host runs on its threads. `done` is as in
  // wasinn_guest_call_begin.
  struct Begun {
    wasinn_memory memory = {};
    uint64_t arg = 0;
    wasinn_call call = {};
  };
  void Begin(Begun& begun, std::string_view name, uint32_t arg, void (*done)(void* user, uint32_t result), void* user) {
    begun.arg = arg;
    begun.memory.struct_size = sizeof begun.memory;
    begun.memory.base = memory_.data();
    begun.memory.size = memory_.size();
    begun.call.struct_size = sizeof begun.call;
    begun.call.function = &Find(name);
    begun.call.guest = guest_.get();
    begun.call.memory = &begun.memory;
    begun.call.args = &begun.arg;
    begun.call.stride = sizeof begun.arg;
    wasinn_guest_call_begin(&begun.call, done, user);
  }

  // `name` is as in Find.
  void Call(std::string_view name, std::initializer_list<uint64_t> args) {
    wasinn_memory memory = {};
    memory.struct_size = sizeof memory;
    memory.base = memory_.data();
    memory.size = memory_.size();
    const uint32_t error = Find(name).call(guest_.get(), &memory, args.begin(), sizeof(uint64_t));
    if (error != 0) throw std::runtime_error(std::string(name) + " ended in error " + std::to_string(error));
  }

 private:
  static Guest Create(const Host& host) {
    wasinn::Result<Guest> guest = Guest::Create(host);
    Must(guest.status());
    return std::move(*guest);
  }
  Guest guest_;
  std::vector<uint8_t> memory_;
};

}  // namespace wasinn::bench
