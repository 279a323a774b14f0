// One inference in flight.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/call_gate.h"
#include "common/context_base.h"
#include "common/reservation.h"
#include "tensorflow/inputs.h"
#include "tensorflow/model.h"
#include "tensorflow/outputs.h"

namespace wasinn::tensorflow {

class Context : public backend::ContextBase {
 public:
  Context(const Model& model, const wasinn_slot_options& options);

  // Of these outputs; none: of all.
  void Compute(std::span<const uint32_t> wanted);
  void Output(uint32_t index, wasinn_tensor* view);
  void Cancel();
  void DiscardOutputs();
  void BindInput(uint32_t index, const wasinn_tensor& tensor) { inputs_.Bind(index, tensor); }
  void UnbindInput(uint32_t index) { inputs_.Unbind(index); }
  void TakeOutput(uint32_t index, wasinn_tensor* out);

 private:
  // For the attempt of a compute; it has been entered.
  std::shared_ptr<Session> Enter(int attempt);
  std::shared_ptr<Session> EnterShared();
  std::shared_ptr<Session> EnterOwn();
  void DropOwn();
  // Whether the session runs the tensors of this compute too: `serve` asks it, unless it ran them last.
  template <typename Serve>
  bool Serves(const Session& session, const Serve& serve);
  void Want(std::span<const uint32_t> wanted);
  void ChooseSet();
  void RunToTheEnd();
  void Use(const Session& session);
  void ChooseTensors();
  // False: somebody else's cancel ended it.
  bool Run(SessionRun* run);
  void TakeResults();
  // Whether it may be kept beside those that are.
  void CheckSize(const TF_Tensor* tensor) const;
  void FreeResults();

  const Model& model_;
  const TfPtr<TF_Status> status_;
  Inputs inputs_;
  Outputs outputs_;
  std::vector<bool> wanted_;
  // The session of the run under way. A shared one is not held beyond that, for it may be retired any time.
  Session* session_ = nullptr;
  bool stopped_ = false;          // that run, by a cancel
  backend::Reservation kept_;     // for the own one
  std::shared_ptr<Session> own_;  // of a model with state, or for tensors that the shared one does not run; NULL: none
  TensorSet set_;                 // of this compute
  TensorSet served_set_;          // of the last one
  uint64_t served_session_ = 0;   // and which session ran it
  uint64_t known_session_ = 0;    // whose tensors these are
  // Of its graph, by index in the signature; no operation: not servable.
  std::vector<TF_Output> input_tensors_, output_tensors_;
  // Of a run.
  std::vector<TF_Output> feeds_, fetches_;
  std::vector<TF_Tensor*> values_, results_;
  base::CallGate gate_;  // of session_, which goes before the compute ends
};

}  // namespace wasinn::tensorflow
