// The inputs of a context.
#pragma once

#include <wasinn/backend.h>

#include <optional>
#include <utility>
#include <vector>

#include "openvino/model.h"

namespace wasinn::openvino {

// A tensor of OpenVINO over the memory of each input, made and given to the request once for a place and a shape:
// OpenVINO reads it there. One thread at a time.
class Inputs {
 public:
  // Those that are set go to the request, at the next run at the latest.
  Inputs(const Model& model, const Compiled::Request* request);

  // From now on there is none, or another one.
  void ForgetRequest();
  // wasinn_backend::bind_input and unbind_input.
  void Bind(uint32_t index, const wasinn_tensor& tensor);
  void Unbind(uint32_t index);
  void BeforeRun();
  // The input whose memory this is, if any.
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
  // At once if that can be, else with the next run. Where shapes are open, a request is touched only in its turn.
  void Offer(uint32_t index);
  void Give(uint32_t index);

  const Model& model_;
  const Compiled::Request* const request_;
  std::vector<Slot> slots_;
  bool reshaped_ = true;
  bool check_ = true;  // something may be unset or unbound
};

}  // namespace wasinn::openvino
