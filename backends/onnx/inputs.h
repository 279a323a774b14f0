// The inputs of a context.
#ifndef WASINN_BACKENDS_ONNX_INPUTS_H_
#define WASINN_BACKENDS_ONNX_INPUTS_H_

#include <wasinn/backend.h>

#include <string>
#include <vector>

#include "common/aligned_buffer.h"
#include "onnx/model.h"

namespace wasinn::onnx {

// Each input lies in a buffer of its own, or in one that is lent, and is bound once for a place and a shape. One thread
// at a time.
class Inputs {
 public:
  Inputs(const Model& model, OrtIoBinding* binding);

  // wasinn_backend::input, bind_input and unbind_input.
  void Set(uint32_t index, wasinn_tensor* tensor);
  void Lend(uint32_t index, const wasinn_tensor& tensor);
  void Unset(uint32_t index) { slots_[index].wanted = false; }
  // Before each run.
  void BindForRun();

 private:
  // A value of ONNX Runtime over memory that it does not own.
  struct Value {
    OrtPtr<OrtValue> value;  // NULL: there is none
    const void* data = nullptr;
    std::vector<int64_t> dims;
  };
  struct Slot {
    backend::AlignedBuffer buffer;
    Value own, lent;
    const Value* bound = nullptr;  // which of them is in the binding
    bool wanted = false;           // it is set; else what is bound is a thing of the past
  };

  void Make(const Port& port, const wasinn_tensor& tensor, void* data, Value* value) const;
  void Bind(uint32_t index, const Value& value);

  const Model& model_;
  OrtIoBinding* const binding_;
  std::vector<Slot> slots_;
  bool stale_ = false;  // something is bound that is not wanted
};

}  // namespace wasinn::onnx

#endif  // WASINN_BACKENDS_ONNX_INPUTS_H_
