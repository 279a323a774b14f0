// The outputs of a context.
#ifndef WASINN_BACKENDS_OPENVINO_OUTPUTS_H_
#define WASINN_BACKENDS_OPENVINO_OUTPUTS_H_

#include <wasinn/backend.h>

#include <memory>
#include <vector>

#include "openvino/model.h"
#include "openvino/output_memory.h"

namespace wasinn::openvino {

// An output whose shape the model fixes lies in a buffer of ours that the request writes to. Others OpenVINO allocates,
// and writes to the same place again in the next run. One thread at a time.
class Outputs {
 public:
  explicit Outputs(const Model& model);

  // From now on outputs come from this request. NULL: from none.
  void UseRequest(ov_infer_request_t* request);
  // The bytes of the buffers of ours; UINT64_MAX where they are too many to count.
  uint64_t fixed_bytes() const { return fixed_bytes_; }
  // Whether there are outputs that OpenVINO allocates.
  bool has_allocated() const { return has_allocated_; }
  // Before each run. What outputs held is gone.
  void BeforeRun();
  // After each run that succeeded: the bytes of all outputs.
  uint64_t AfterRun();
  // wasinn_backend::output and take_output. Only after a run that succeeded.
  void View(uint32_t index, wasinn_tensor* view);
  void Take(uint32_t index, wasinn_tensor* out);

 private:
  struct Slot {
    bool fixed = false;
    OutputMemoryPtr memory;                 // of a fixed one; NULL: it was taken
    const OutputMemory* bound = nullptr;    // which memory the request writes to
    std::shared_ptr<OutputMemories> spare;  // of a fixed one: what was taken and came back
    OvPtr<ov_tensor_t> tensor;              // of another: what OpenVINO shows
    bool taken = false;
    wasinn_tensor view = {};
    std::vector<int64_t> dims;  // that `view` points to
  };

  OutputMemoryPtr NewFixed(const Port& port) const;
  void BindFixed(uint32_t index, Slot* slot);
  void Look(uint32_t index, Slot* slot);

  const Model& model_;
  ov_infer_request_t* request_ = nullptr;
  std::vector<Slot> slots_;
  uint64_t fixed_bytes_ = 0;
  bool has_allocated_ = false;
};

}  // namespace wasinn::openvino

#endif  // WASINN_BACKENDS_OPENVINO_OUTPUTS_H_
