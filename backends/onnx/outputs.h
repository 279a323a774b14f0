// The outputs of a context.
#ifndef WASINN_BACKENDS_ONNX_OUTPUTS_H_
#define WASINN_BACKENDS_ONNX_OUTPUTS_H_

#include <wasinn/backend.h>

#include <memory>
#include <vector>

#include "onnx/model.h"
#include "onnx/output_memory.h"

namespace wasinn::onnx {

// An output whose shape the model fixes lies in a buffer of ours that is bound once, so that a run allocates nothing
// for it. Others ONNX Runtime allocates: those must be bound anew for each run, or it would insist on the shape of the
// last one. For an output that is an input, it hands out the input's value, and leaves a bound buffer as it is: such a
// one is copied after each run. One thread at a time.
class Outputs {
 public:
  Outputs(const Model& model, OrtIoBinding* binding);

  // The bytes of the buffers of ours; UINT64_MAX where they are too many to count.
  uint64_t fixed_bytes() const { return fixed_bytes_; }
  // Before each run. What outputs held is gone.
  void BindForRun();
  // After each run that succeeded: keeps what was passed on, and lets go of what is no tensor of numbers.
  void AfterRun();
  // After a run: whether each lies in the buffer of ours that it lay in after an earlier one.
  bool AreWhereTheyWere() const { return all_fixed_ && !moved_; }
  // Lets go of all but the buffers of ours.
  void Discard();
  // The model says other shapes than it makes. False if no shape was trusted before.
  bool TrustNoShapes();
  // wasinn_backend::output and take_output. Only after a run that succeeded.
  void View(uint32_t index, wasinn_tensor* view);
  void Take(uint32_t index, wasinn_tensor* out);

 private:
  struct Slot {
    bool fixed = false;
    OutputMemoryPtr memory;               // NULL: it was taken, or nobody has looked at it yet
    const OutputMemory* bound = nullptr;  // of a fixed one: which memory is in the binding
    backend::Spare<OutputMemory> spare;   // of a fixed one: what was taken and came back
    bool seen = false;                    // `view` shows it
    wasinn_tensor view = {};
    std::vector<int64_t> dims;  // that `view` points to
  };

  OutputMemoryPtr NewMemory() const;
  OutputMemoryPtr NewFixed(const Port& port) const;
  void Release(const Port& port, Slot* slot);
  void KeepPassedOn(const Port& port, Slot* slot);
  void BindFixed(const Port& port, Slot* slot);
  void FetchValues();
  void Look(const Port& port, Slot* slot);

  const Model& model_;
  OrtIoBinding* const binding_;
  std::vector<Slot> slots_;
  uint64_t fixed_bytes_ = 0;
  bool all_fixed_ = true;
  bool moved_ = false;  // in the last run
  bool fetched_ = false;
};

}  // namespace wasinn::onnx

#endif  // WASINN_BACKENDS_ONNX_OUTPUTS_H_
