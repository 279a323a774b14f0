#include "fuzz/fake_guest.h"

#include <wasinn/engine.h>

#include <algorithm>
#include <cstring>

#include "fuzz/expect.h"

namespace wasinn::fuzz {
namespace {

constexpr uint32_t kTooLarge = 7, kLastErrno = 8;

const wasinn_function& Find(Function function) {
  static const std::string_view names[kFunctionCount] = {"load",      "load_by_name", "init_execution_context",
                                                         "set_input", "compute",      "get_output"};
  size_t count = 0;
  const wasinn_function* const* functions = wasinn_functions(&count);
  for (size_t i = 0; i < count; ++i) {
    if (functions[i]->name == names[function]) return *functions[i];
  }
  FUZZ_EXPECT(!"the function is there");
  return *functions[0];
}

// A piece of memory that a call may have written.
struct Piece {
  uint64_t begin = 0, end = 0;
};

}  // namespace

size_t FakeGuest::ParameterCount(Function function) { return std::strlen(Find(function).params); }

uint32_t FakeGuest::Read(uint32_t address) const {
  uint32_t value = 0;
  if (address <= memory_.size() && sizeof(value) <= memory_.size() - address) {
    std::memcpy(&value, memory_.data() + address, sizeof(value));
  }
  return value;
}

void FakeGuest::Write(uint32_t address, const void* bytes, size_t size) {
  if (address >= memory_.size() || size == 0) return;
  std::memcpy(memory_.data() + address, bytes, std::min(size, memory_.size() - address));
}

uint32_t FakeGuest::Call(Function function, const uint64_t* args) {
  before_ = memory_;
  wasinn_memory memory{};
  memory.struct_size = sizeof(memory);
  memory.base = memory_.data();
  memory.size = memory_.size();
  const uint32_t error = Find(function).call(guest_, &memory, args, sizeof(uint64_t));
  FUZZ_EXPECT(error <= kLastErrno);
  ExpectOnlyResultsWritten(function, args, error);
  return error;
}

void FakeGuest::ExpectOnlyResultsWritten(Function function, const uint64_t* args, uint32_t error) const {
  Piece result, buffer;
  const bool needed_size = function == kGetOutput && error == kTooLarge;
  static constexpr size_t kResultAt[kFunctionCount] = {4, 2, 1, 0, 0, 4};
  if (kResultAt[function] != 0 && (error == 0 || needed_size)) {
    result.begin = args[kResultAt[function]];
    result.end = result.begin + sizeof(uint32_t);
    FUZZ_EXPECT(result.end <= memory_.size());
  }
  if (function == kGetOutput && error == 0) {
    const uint32_t written = Read(static_cast<uint32_t>(result.begin));
    FUZZ_EXPECT(written <= args[3]);
    buffer = {args[2], args[2] + written};
    FUZZ_EXPECT(buffer.end <= memory_.size());
  }
  if (needed_size) FUZZ_EXPECT(Read(static_cast<uint32_t>(result.begin)) > args[3]);
  for (size_t i = 0; i < memory_.size(); ++i) {
    const auto in = [i](const Piece& piece) { return i >= piece.begin && i < piece.end; };
    FUZZ_EXPECT(memory_[i] == before_[i] || in(result) || in(buffer));
  }
}

}  // namespace wasinn::fuzz
