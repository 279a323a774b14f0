// One inference in flight.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <memory>

#include "common/context_base.h"
#include "common/reservation.h"
#include "common/spare_threads.h"
#include "tflite/model.h"
#include "tflite/session.h"

namespace wasinn::tflite {

class Context : public backend::ContextBase {
 public:
  Context(const Model& model, const wasinn_slot_options& options);
  ~Context();

  void Compute();
  void Output(uint32_t index, wasinn_tensor* view) { last_.load()->Output(index, view); }
  void Cancel() {
    ContextBase::Cancel();
    last_.load()->Cancel();
  }
  void DiscardOutputs();
  void Reset();
  void BindInput(uint32_t index, const wasinn_tensor& tensor) { whole().inputs().Bind(index, tensor); }
  void UnbindInput(uint32_t index) { whole().inputs().Unbind(index); }
  void BindOutput(uint32_t index, const wasinn_tensor& tensor) { whole().outputs().Bind(index, tensor); }
  bool has_outputs_elsewhere() const { return last_.load()->outputs().has_elsewhere(); }

 private:
  // A session, and what it costs.
  struct Seat {
    // For the session, so that they go after it.
    backend::Reservation kept;
    backend::Reservation held;  // for outputs that are not those of the context, which the host counts
    std::unique_ptr<Session> session;
    uint64_t needed = 0;  // for the shapes that are set, without XNNPACK
  };

  Session& whole() { return *whole_.session; }
  Seat* Alone();
  void Give(Seat* seat) const;
  void Hold(Seat* seat, uint64_t bytes) const;

  const Model& model_;
  // An interpreter's threads are its own, from its making. So there is one with as many as a compute may have, which
  // has the inputs, and for when the host has fewer to spare another one with its caller's thread alone, once it is
  // needed.
  const backend::ThreadLease pooled_;  // those of the former; 1: there were too many already
  Seat whole_, alone_;
  std::atomic<Session*> last_;  // the one of the last compute
};

}  // namespace wasinn::tflite
