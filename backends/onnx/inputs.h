// The inputs of a context.
#pragma once

#include <wasinn/backend.h>

#include <vector>

#include "onnx/memory_budget.h"
#include "onnx/model.h"

namespace wasinn::onnx {

// A value of ONNX Runtime over the memory of each input, made and bound once for a place and a shape. One thread at a
// time.
class Inputs {
 public:
  Inputs(const Model& model, OrtIoBinding* binding);

  // wasinn_backend::bind_input and unbind_input.
  void Bind(uint32_t index, const wasinn_tensor& tensor);
  void Unbind(uint32_t index) { slots_[index].wanted = false; }
  // Before each run. Strings become ONNX Runtime's for it, since their bytes may have changed: memory of `budget`.
  void BindForRun(MemoryBudget& budget);
  // After each run: nothing is kept that nobody counts.
  void AfterRun();

 private:
  struct Slot {
    OrtPtr<OrtValue> value;  // NULL: there is none
    const void* data = nullptr;
    const OrtMemoryInfo* place = nullptr;  // of `data`: the host's memory, or the device's
    std::vector<int64_t> dims;
    bool bound = false;   // it is in the binding
    bool wanted = false;  // it is set; else what is bound is a thing of the past
  };

  const OrtMemoryInfo* PlaceOf(uint32_t index, const wasinn_tensor& tensor) const;
  void Make(uint32_t index, const wasinn_tensor& tensor, const OrtMemoryInfo* place);
  void PutIntoBinding(uint32_t index);
  void Rebind();
  void PutStrings(uint32_t index, MemoryBudget& budget);

  const Model& model_;
  OrtIoBinding* const binding_;
  std::vector<Slot> slots_;
  bool has_strings_ = false;
  bool stale_ = false;  // something is bound that is not wanted
};

}  // namespace wasinn::onnx
