// The inputs and outputs of a context.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "common/aligned_buffer.h"
#include "onnx/call_scope.h"
#include "onnx/device_memory.h"
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
  // Before each run. Strings are converted for it, since their bytes may have changed: memory of `budget`.
  void BindForRun(MemoryBudget& budget);
  // After each run: releases memory that is not counted.
  void AfterRun();

 private:
  struct Slot {
    OrtPtr<OrtValue> value;  // NULL: there is none
    const void* data = nullptr;
    const OrtMemoryInfo* place = nullptr;  // for `data`: the host's memory, or the device's
    std::vector<int64_t> dims;
    bool bound = false;   // it is in the binding
    bool wanted = false;  // it is set; else the binding is outdated
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

// The memory of an output, which callers may take over.
struct OutputMemory {
  explicit OutputMemory(void (*release)(OrtValue*)) : value(nullptr, release) {}
  ~OutputMemory() {
    const DeviceTurn turn(takes_turns);
    value.reset();
  }

  backend::AlignedBuffer buffer;  // a copy of a value that ONNX Runtime passed on; else none
  OrtPtr<OrtValue> value;
  bool takes_turns = false;  // freeing it needs a turn, if it is on a device
};

// Outputs of a known shape are in the host's memory, and ONNX Runtime allocates nothing for them. It allocates others,
// which must be bound again for each run: else it would insist on the shape of the last one. For an output that is an
// input, it returns the input's value, and leaves a bound buffer unchanged: such an output is copied after each run.
// One thread at a time.
class Outputs {
 public:
  Outputs(const Model& model, OrtIoBinding* binding);

  // The bytes of those that are bindable; UINT64_MAX if they are too many to count.
  uint64_t bindable_bytes() const { return bindable_bytes_; }
  // wasinn_backend::bind_output.
  void Bind(uint32_t index, const wasinn_tensor& tensor);
  // wasinn_compute_options::kept of the next run.
  void Keep(std::span<const uint32_t> indices) {
    if (!indices.empty() || n_kept_ != 0) [[unlikely]]
      SetKept(indices);
  }
  // Before each run. Frees the outputs' memory.
  void BeforeRun();
  // After each successful run: copies values that were passed on, makes tensors of strings, maps and sequences, with
  // memory of `budget`, and releases values that are none.
  void AfterRun(MemoryBudget& budget, const std::atomic<bool>& cancelled);
  // Releases everything, at the end.
  void Drop() { slots_.clear(); }
  // Releases everything except bindings.
  void Discard();
  // The model declares other shapes than it makes: from now on ONNX Runtime allocates all. False if no shape was
  // trusted before.
  bool TrustNoShapes();
  bool trusts_shapes() const { return trusts_shapes_; }
  // wasinn_backend::output and take_output. Only after a successful run.
  void View(uint32_t index, wasinn_tensor* view);
  void Take(uint32_t index, wasinn_tensor* out);

 private:
  struct Slot {
    OrtPtr<OrtValue> bound;                // over the host's memory, which `view` shows; NULL: none
    std::unique_ptr<OutputMemory> memory;  // for other outputs; NULL: taken, or not read yet
    bool has_value() const { return memory != nullptr && memory->value != nullptr; }
    bool seen = false;  // `view` shows `memory`
    bool kept = false;  // on the device
    wasinn_tensor view = {};
    std::vector<int64_t> dims;  // for `view`
  };

  void SetKept(std::span<const uint32_t> indices);
  bool IsBound(uint32_t index) const {
    return trusts_shapes_ && model_.signature().outputs()[index].bindable() && !slots_[index].kept;
  }
  const OrtMemoryInfo* PlaceOf(const Slot& slot) const {
    return slot.kept ? model_.device_memory()->info() : model_.host().environment().cpu_memory();
  }
  const char* MemoryOf(const Port& port, const Slot& slot) const;
  bool AllAreBound() const { return all_bindable_ && n_bound_ == slots_.size(); }
  void Release(const Port& port, Slot* slot);
  void KeepPassedOn(const Port& port, Slot* slot) {
    Look(port, slot);
    slot->memory->buffer.Assign(slot->view.data, slot->view.bytes);
    slot->view.data = slot->memory->buffer.data();
  }
  void Convert(const Port& port, const OrtValue* value, Slot* slot, MemoryBudget& budget);
  void FetchValues();
  void Look(const Port& port, Slot* slot);

  const Model& model_;
  OrtIoBinding* const binding_;
  std::vector<Slot> slots_;
  // In the order of binding. The value of a sequence is in the slot of its first element.
  std::vector<uint32_t> bound_slots_;
  uint64_t bindable_bytes_ = 0;
  bool all_bindable_ = true;
  size_t n_bound_ = 0, n_kept_ = 0;
  bool trusts_shapes_ = true;
  bool fetched_ = false;
};

}  // namespace wasinn::onnx
