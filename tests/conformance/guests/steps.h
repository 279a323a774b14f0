// The calls of a form of wasi-nn, as steps.cc makes them. The linked source file has them: steps_witx.cc or
// steps_component.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <string>
#include <vector>

namespace steps {

using Bytes = std::vector<uint8_t>;

struct Tensor {
  uint32_t type = 0;  // the form's number
  std::vector<uint32_t> dims;
  Bytes bytes;
};

// Errors of the steps, which are none of wasi-nn's.
inline constexpr uint32_t kNoSuchFile = 200, kNoSuchStep = 201, kNoSuchOutput = 202;
// A buffer is too small: the size that the output needs is in `written`. It is wasi_ephemeral_nn's number. Components have
// no such buffers, and steps_component.cc takes the same.
inline constexpr uint32_t kTooLarge = 7;

// Each returns 0 or an error: for components, 1000 and the number of the error.
uint32_t Load(const std::vector<Bytes>& parts, uint32_t encoding, uint32_t target, uint32_t* graph);
uint32_t LoadByName(const std::string& name, uint32_t* graph);
uint32_t InitContext(uint32_t graph, uint32_t* context);
// Inputs and outputs are named by numbers or by names, as the form has them.
uint32_t Set(uint32_t context, const std::string& input, const Tensor& tensor);
uint32_t Compute(uint32_t context);
uint32_t Get(uint32_t context, const std::string& output, uint8_t* buffer, uint32_t room, uint32_t* written);

// The rest of a step: "TYPE DIMS BYTES".
Tensor ReadTensor(std::istream& step);
// A buffer of as many bytes as the step says at its end, for `fill`, which takes and returns what Get does: its bytes, or
// their number if they are too many.
using Fill = std::function<uint32_t(uint8_t* buffer, uint32_t room, uint32_t* written)>;
uint32_t WithBuffer(std::istream& step, Bytes* out, const Fill& fill);
// A step that only this form has: kNoSuchStep if it has none of this name. `handle` is that of the graph or context which
// the step names first.
uint32_t More(const std::string& word, uint32_t handle, std::istream& step, Bytes* out);

}  // namespace steps
