#include "engines/any/program.h"

#include <algorithm>
#include <utility>

namespace wasinn::testing {

Program::Program(wasinn_host* host, std::vector<uint8_t> wasm) : wasm3_(host, std::move(wasm)) {
  if (!wasm3_.error().empty()) return;
  // Those that a module does not import are not found, which is fine.
  m3_LinkRawFunctionEx(wasm3_.module(), "test", "read", "i(ii)", Read, this);
  m3_LinkRawFunctionEx(wasm3_.module(), "test", "write", "v(ii)", Write, this);
  m3_LinkRawFunctionEx(wasm3_.module(), "test", "answer", "v(i)", Answer, this);
}

// The program is the test's own: its addresses are good.
const void* Program::Read(IM3Runtime, uint64_t* slots, void* memory, void* self) {
  auto* program = static_cast<Program*>(self);
  const size_t size = std::min<size_t>(static_cast<uint32_t>(slots[1]), program->input_.size() - program->taken_);
  std::memcpy(static_cast<uint8_t*>(memory) + static_cast<uint32_t>(slots[0]), program->input_.data() + program->taken_,
              size);
  program->taken_ += size;
  slots[0] = size;
  return m3Err_none;
}

const void* Program::Write(IM3Runtime, uint64_t* slots, void* memory, void* self) {
  const uint8_t* begin = static_cast<uint8_t*>(memory) + static_cast<uint32_t>(slots[0]);
  auto& output = static_cast<Program*>(self)->output_;
  output.insert(output.end(), begin, begin + static_cast<uint32_t>(slots[1]));
  return m3Err_none;
}

const void* Program::Answer(IM3Runtime, uint64_t* slots, void* memory, void* self) {
  auto* program = static_cast<Program*>(self);
  program->answers_.push_back(static_cast<uint32_t>(slots[0]));
  program->bases_.push_back(static_cast<uint8_t*>(memory));
  return m3Err_none;
}

}  // namespace wasinn::testing
