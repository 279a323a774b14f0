// The inputs of a context.
#ifndef WASINN_BACKENDS_ONNX_INPUTS_H_
#define WASINN_BACKENDS_ONNX_INPUTS_H_

#include <wasinn/backend.h>

#include <string>
#include <vector>

#include "common/aligned_buffer.h"
#include "onnx/model.h"

namespace wasinn::onnx {

// Each input lies in a buffer of its own, which is bound once for a shape. One thread at a time.
class Inputs {
 public:
  Inputs(const Model& model, OrtIoBinding* binding);

  // wasinn_backend::input.
  void Set(uint32_t index, wasinn_tensor* tensor);
  // Before each run.
  void BindForRun();

 private:
  struct Slot {
    backend::AlignedBuffer buffer;
    std::vector<int64_t> dims;
    OrtPtr<OrtValue> value;  // NULL: not set
  };

  void Resize(uint32_t index, const wasinn_tensor& tensor);
  void Bind(uint32_t index, const OrtValue* value);

  const Model& model_;
  OrtIoBinding* const binding_;
  std::vector<Slot> slots_;
};

}  // namespace wasinn::onnx

#endif  // WASINN_BACKENDS_ONNX_INPUTS_H_
