// A guest's linear memory and calls of wasi_ephemeral_nn on it, with checks: a call only writes its results, and
// nothing at all if it fails.
#pragma once

#include <wasinn/wasinn.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace wasinn::fuzz {

enum Function : size_t { kLoad, kLoadByName, kInitContext, kSetInput, kCompute, kGetOutput, kFunctionCount };

class FakeGuest {
 public:
  // Exactly `size` bytes on the heap: ASan sees each access outside of them.
  FakeGuest(wasinn_guest* guest, size_t size) : guest_(guest), memory_(size) {}

  // `args` has as many elements as the function has parameters. Returns the errno.
  uint32_t Call(Function function, const uint64_t* args);

  static size_t ParameterCount(Function function);

  std::vector<uint8_t>& memory() { return memory_; }
  uint32_t size() const { return static_cast<uint32_t>(memory_.size()); }
  // 0 outside of the memory.
  uint32_t Read(uint32_t address) const;
  // Writes only the bytes that are inside the memory.
  void Write(uint32_t address, const void* bytes, size_t size);

 private:
  void ExpectOnlyResultsWritten(Function function, const uint64_t* args, uint32_t error) const;

  wasinn_guest* guest_;
  std::vector<uint8_t> memory_;
  std::vector<uint8_t> before_;
};

}  // namespace wasinn::fuzz
