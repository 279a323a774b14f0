// A guest on wasm3 that runs guests/program.c, with the test's functions.
#pragma once

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "engines/any/wasm3_guest.h"
#include "support/this_build.h"

namespace wasinn::testing {

inline std::vector<uint8_t> ReadGuest(const std::string& name) {
  std::ifstream file(GuestFile(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The layout of guests/program.c.
struct Work {
  char name[16] = {};
  uint32_t name_size = 0;
  uint32_t dims[4] = {};
  uint32_t size = 0;
  uint32_t grow = 0;
};
inline Work NewWork(const std::string& name, const std::vector<uint32_t>& dims) {
  Work work;
  std::memcpy(work.name, name.data(), name.size());
  work.name_size = static_cast<uint32_t>(name.size());
  work.size = sizeof(float);
  for (size_t i = 0; i < 4; ++i) work.size *= work.dims[i] = dims[i];
  return work;
}

class Program {
 public:
  explicit Program(wasinn_host* host, std::vector<uint8_t> wasm = ReadGuest("any-program"));

  void Give(const void* bytes, size_t size) {
    const auto* begin = static_cast<const uint8_t*>(bytes);
    input_.insert(input_.end(), begin, begin + size);
  }
  // The trap, or why there is no guest; "" if it did what it should.
  std::string Run(const char* function = "run") {
    return wasm3_.error().empty() ? wasm3_.Run(function) : wasm3_.error();
  }
  Wasm3Guest& wasm3() { return wasm3_; }
  // The result of wasi-nn, and the place of memory then.
  const std::vector<uint32_t>& answers() const { return answers_; }
  const std::vector<const uint8_t*>& bases() const { return bases_; }
  const std::vector<uint8_t>& output() const { return output_; }

 private:
  static const void* Read(IM3Runtime runtime, uint64_t* slots, void* memory, void* self);
  static const void* Write(IM3Runtime runtime, uint64_t* slots, void* memory, void* self);
  static const void* Answer(IM3Runtime runtime, uint64_t* slots, void* memory, void* self);

  std::vector<uint8_t> input_, output_;
  size_t taken_ = 0;
  std::vector<uint32_t> answers_;
  std::vector<const uint8_t*> bases_;
  Wasm3Guest wasm3_;
};

}  // namespace wasinn::testing
