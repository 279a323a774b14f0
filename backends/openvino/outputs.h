// The outputs of a context.
#ifndef WASINN_BACKENDS_OPENVINO_OUTPUTS_H_
#define WASINN_BACKENDS_OPENVINO_OUTPUTS_H_

#include <wasinn/backend.h>

#include <vector>

#include "common/aligned_buffer.h"
#include "openvino/inputs.h"
#include "openvino/model.h"

namespace wasinn::openvino {

// OpenVINO allocates the outputs, and writes to the same place again in the next run. (It would write to buffers of the
// host as well, but for an output that is an input: that buffer it leaves as it is, and tells nobody.) An output that is an input is shown in the input's memory: such a one is copied after each run, for the
// input may be set while the output is looked at. The core charges the copy, as it does any output; what the request has
// beside it, once for each such input of an open shape, is charged here. One thread at a time.
class Outputs {
 public:
  explicit Outputs(const Model& model);

  // The request goes, and with it what it keeps, and the copies.
  void ForgetRequest();
  // The bytes of the outputs of a fixed shape; UINT64_MAX where they are too many to count.
  uint64_t fixed_bytes() const { return fixed_bytes_; }
  // Whether there are others.
  bool has_dynamic() const { return has_dynamic_; }
  // After each run that succeeded: the bytes of all outputs. Nothing is allocated for them before CopyPassedOn.
  uint64_t AfterRun(ov_infer_request_t* request, const Inputs& inputs);
  // The last step, before any input changes.
  void CopyPassedOn();
  // What the request keeps for outputs beyond what the core charges: beside a copy, of a type that is not shown, or since
  // they were larger in an earlier run.
  uint64_t kept_bytes() const { return kept_bytes_; }
  // What it keeps for outputs that are not of a fixed shape.
  uint64_t most_bytes() const;
  // wasinn_backend::output. Only after a run that succeeded.
  void View(uint32_t index, wasinn_tensor* view);
  // Copies of an open shape.
  void Discard();

 private:
  struct Slot {
    bool fixed = false;         // its shape
    OvPtr<ov_tensor_t> tensor;  // what OpenVINO shows; NULL before the first run
    void* data = nullptr;       // there
    bool passed_on = false;     // it is an input
    backend::AlignedBuffer copy;
    uint64_t most = 0;  // bytes of the largest so far that OpenVINO allocated, where the shape is not fixed
    wasinn_tensor view = {};
    std::vector<int64_t> dims;  // that `view` points to
  };

  void Look(ov_infer_request_t* request, uint32_t index, Slot* slot) const;
  void ReadShape(const Port& port, Slot* slot) const;
  void Count(const Inputs& inputs, Slot* slot);
  // Of a type that wasinn does not show: its bytes.
  uint64_t CountUnshown(ov_infer_request_t* request, uint32_t index, Slot* slot);

  const Model& model_;
  std::vector<Slot> slots_;
  uint64_t fixed_bytes_ = 0, kept_bytes_ = 0;
  std::vector<uint64_t> behind_copies_;  // what the request has beside copies: of each input, the most so far
  uint64_t all_behind_copies_ = 0;
  bool has_dynamic_ = false;
};

}  // namespace wasinn::openvino

#endif  // WASINN_BACKENDS_OPENVINO_OUTPUTS_H_
