// The inputs and outputs of a context.
#pragma once

#include <wasinn/backend.h>

#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "common/aligned_buffer.h"
#include "openvino/model.h"
#include "openvino/ov_library.h"

namespace wasinn::openvino {

// A tensor of OpenVINO over the memory of each input, made and set in the request once for a place and a shape:
// OpenVINO reads it there. One thread at a time.
class Inputs {
 public:
  // Set inputs go to the request, at the next run at the latest.
  Inputs(const Model& model, const Compiled::Request* request);

  // From now on there is no request, or another one.
  void ForgetRequest() {
    check_ = true;
    for (Slot& slot : slots_) slot.given = false;
  }
  // wasinn_backend::bind_input and unbind_input.
  void Bind(uint32_t index, const wasinn_tensor& tensor);
  void Unbind(uint32_t index) {
    slots_[index].set = false;
    check_ = true;
  }
  void BeforeRun();
  // The input with this memory, if there is one.
  std::optional<uint32_t> Find(const void* data) const;
  // Whether shapes have changed since the last call.
  bool TakeReshaped() { return std::exchange(reshaped_, false); }

 private:
  struct Slot {
    OvPtr<ov_tensor_t> tensor;  // NULL: there is none
    const void* data = nullptr;
    size_t bytes = 0;
    std::vector<int64_t> dims;
    bool set = false;
    bool given = false;  // the request has this tensor
  };

  void Make(uint32_t index, const wasinn_tensor& tensor);
  // At once if possible, else with the next run. If shapes are open, a request is only used during its turn.
  void Offer(uint32_t index);
  void Give(uint32_t index);

  const Model& model_;
  const Compiled::Request* const request_;
  std::vector<Slot> slots_;
  bool reshaped_ = true;
  bool check_ = true;  // something may be unset or unbound
};

// The memory of an output.
struct OutputMemory {
  void* data = nullptr;           // NULL: there is none
  backend::AlignedBuffer buffer;  // that memory, unless OpenVINO has allocated it: then its tensor owns it
  OvPtr<ov_tensor_t> tensor{nullptr, nullptr};
};

// Takes back the memory of an output that was given away, as long as no other memory has replaced it: then the request
// has it already, and needs no change. It holds at most the one output that the slot is charged for. Thread-safe.
class Homecoming {
 public:
  void Await() {
    const std::lock_guard lock(mutex_);
    awaited_ = true;
  }
  // Returns the memory that came back; from now on none does.
  OutputMemory End() {
    const std::lock_guard lock(mutex_);
    awaited_ = false;
    return std::exchange(memory_, {});
  }
  // Keeps it if it is expected, or frees it.
  void Come(OutputMemory memory) {
    const std::lock_guard lock(mutex_);
    if (awaited_) std::swap(memory, memory_);
    awaited_ = false;
  }

 private:
  std::mutex mutex_;
  bool awaited_ = false;
  OutputMemory memory_;
};

// The owner of an output that was given away with its memory.
struct GivenOutput {
  OutputMemory memory;
  std::shared_ptr<Homecoming> home;

  static void Release(void* self) {
    const std::unique_ptr<GivenOutput> given(static_cast<GivenOutput*>(self));
    given->home->Come(std::move(given->memory));
  }
};

// OpenVINO allocates the outputs, and writes to the same place again in the next run. It would write to the host's
// buffers, too, except for an output that is an input: that buffer it leaves unchanged, without a report. So a large
// output is given away with its memory, and replaced by another buffer, if shapes are fixed and a run has shown that it
// is no input; others are copied.
//
// An output that is an input is shown in the input's memory: it is copied after each run, because the input may be set
// while the output is read. The core charges the copy, like any output; the request's own memory for it, once for each
// such input of an open shape, is charged here. One thread at a time.
class Outputs {
 public:
  explicit Outputs(const Model& model);
  ~Outputs() { ForgetRequest(); }
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;

  // Drops the request, the memory that it keeps, and the copies.
  void ForgetRequest();
  // The bytes of the outputs of a fixed shape; UINT64_MAX if they are too many to count.
  uint64_t fixed_bytes() const { return fixed_bytes_; }
  // Whether there are others.
  bool has_dynamic() const { return has_dynamic_; }
  // Before each run: replaces memory that was given away.
  void BeforeRun(ov_infer_request_t* request);
  // After each successful run: the bytes of all outputs. Nothing is allocated for them before CopyPassedOn.
  uint64_t AfterRun(ov_infer_request_t* request, const Inputs& inputs);
  // The last step, before any input changes.
  void CopyPassedOn();
  // The request's memory for outputs beyond the core's charges: for an output that is copied, for one of a type that is
  // not shown, or for larger outputs of an earlier run.
  uint64_t kept_bytes() const { return kept_bytes_; }
  // Its memory for outputs that are not of a fixed shape.
  uint64_t most_bytes() const {
    uint64_t sum = all_behind_copies_;
    for (const Slot& slot : slots_) sum += slot.most;
    return sum;
  }
  // wasinn_backend::output. Only after a successful run.
  void View(uint32_t index, wasinn_tensor* view) const;
  // wasinn_backend::take_output. The part of it that stays in the request is in kept_bytes from then on.
  void Take(uint32_t index, wasinn_tensor* out);
  uint64_t StaysBehind(uint32_t index) const {
    const Slot& slot = Shown(index);
    return slot.fixed || slot.passed_on ? 0 : slot.view.bytes;
  }
  // Frees copies of an open shape.
  void Discard();

 private:
  struct Slot {
    bool fixed = false;                // its shape
    OvPtr<ov_tensor_t> tensor;         // OpenVINO's view; NULL before the first run
    void* data = nullptr;              // its bytes
    bool passed_on = false;            // it is an input
    bool taken = false;                // since the last run
    bool gone = false;                 // with its memory
    backend::AlignedBuffer buffer;     // at `data`, unless OpenVINO has allocated that
    std::shared_ptr<Homecoming> home;  // for memory that may be given away; NULL: it may not
    backend::AlignedBuffer copy;
    uint64_t most = 0;  // bytes of the largest one so far that OpenVINO allocated, if the shape is not fixed
    wasinn_tensor view = {};
    std::vector<int64_t> dims;  // for `view`
  };

  void Look(ov_infer_request_t* request, uint32_t index, Slot* slot) const;
  void ReadShape(const Port& port, Slot* slot) const;
  void Count(const Inputs& inputs, Slot* slot);
  void FindExchangeable();
  void Renew(ov_infer_request_t* request, uint32_t index, Slot* slot) const;
  void SetTensor(ov_infer_request_t* request, uint32_t index, const Slot& slot, OutputMemory* memory) const;
  void Give(Slot* slot, wasinn_tensor* out);
  static void GiveCopy(Slot* slot, wasinn_tensor* out) {
    if (!slot->passed_on) slot->copy.Assign(slot->data, slot->view.bytes);
    out->data = out->owner = slot->copy.release();
    out->release = std::free;
  }
  const Slot& Shown(uint32_t index) const {
    const Port& port = backend::PortAt(model_.signature().outputs(), "output", index);
    if (slots_[index].taken) backend::ThrowTaken(port.name);
    return slots_[index];
  }
  // For a type that wasinn does not show: its bytes.
  uint64_t CountUnshown(ov_infer_request_t* request, uint32_t index, Slot* slot);

  const Model& model_;
  std::vector<Slot> slots_;
  uint64_t fixed_bytes_ = 0, kept_bytes_ = 0;
  std::vector<uint64_t> behind_copies_;  // the request's memory besides copies: for each input, the most so far
  uint64_t all_behind_copies_ = 0;
  bool has_dynamic_ = false;
  bool has_run_ = false;  // the request
  bool some_gone_ = false;
};

}  // namespace wasinn::openvino
