// A loaded model.
#pragma once

#include <wasinn/backend.h>

#include <memory>
#include <span>

#include "common/reservation.h"
#include "tensorflow/graph_scan.h"
#include "tensorflow/host.h"
#include "tensorflow/session.h"
#include "tensorflow/signature.h"

namespace wasinn::tensorflow {

// Immutable except for its sessions.
class Model : public backend::ModelBase<Host, Signature> {
 public:
  Model(const Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options);

  Sessions& sessions() const { return *sessions_; }
  // Whether a run may leave data for the next one in its session, which then belongs to one context.
  bool keeps_state() const { return effects_.keeps_state; }
  // About the memory of a session.
  uint64_t session_bytes() const { return session_bytes_; }
  // Whether nothing of an input outlives a run: no variable, queue or table takes it.
  bool forgets_inputs() const { return !effects_.keeps_inputs; }
  // Whether an output that has a buffer to itself only holds its own bytes.
  bool gives_whole_buffers() const { return !effects_.gives_parts; }

 private:
  struct Source;

  void LoadGraph(const Source& source);
  void LoadSavedModel(const Source& source);
  void SetSignature(std::unique_ptr<Signature> signature, const GraphScan& scan) {
    effects_ = FindEffects(scan, signature->OutputTensors());
    signature->set_stateful(effects_.keeps_state);
    signature_ = std::move(signature);
  }
  void Compile() const;

  backend::Reservation reservation_;  // for the constants of a guest's graph; freed after the sessions
  std::unique_ptr<Sessions> sessions_;
  Effects effects_;
  uint64_t session_bytes_ = 0;
};

}  // namespace wasinn::tensorflow
