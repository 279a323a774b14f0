// A loaded model.
#pragma once

#include <wasinn/backend.h>

#include <memory>
#include <span>
#include <string>

#include "openvino/compiled.h"
#include "openvino/host.h"
#include "openvino/signature.h"
#include "openvino/source.h"

namespace wasinn::openvino {

// Immutable; contexts of any thread share the compiled model.
class Model : public backend::ModelBase<Host, Signature> {
 public:
  Model(const Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options);

  Compiled* compiled() const { return compiled_.get(); }
  // Whether only an inference on OpenVINO's own thread can be interrupted (context.cc).
  bool single_thread() const { return single_thread_; }
  bool may_loop() const { return may_loop_; }
  bool has_state() const { return has_state_; }
  // The known size of one context's state.
  uint64_t state_bytes() const { return state_bytes_; }
  // Whether a request can write an output to other memory from run to run, once a run has shown which outputs are not
  // written at all. With open shapes a run does not show it for the next.
  bool exchanges_outputs() const { return on_cpu_ && !may_loop_ && !has_state_ && !compiled_->has_open_shapes(); }

 private:
  std::string Property(const char* key) const;
  uint32_t MaxParallel() const;
  void MakeDescription();

  backend::KeptBytes weights_;  // after `compiled_`, which reads them, in the order of destruction
  std::unique_ptr<Compiled> compiled_;
  bool on_cpu_ = false;  // and no device that forwards to others
  bool single_thread_ = false;
  bool may_loop_ = true;
  bool has_state_ = false;
  uint64_t state_bytes_ = 0;
};

}  // namespace wasinn::openvino
