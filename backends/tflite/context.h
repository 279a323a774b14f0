// One inference in flight.
#ifndef WASINN_BACKENDS_TFLITE_CONTEXT_H_
#define WASINN_BACKENDS_TFLITE_CONTEXT_H_

#include <wasinn/backend.h>

#include <memory>

#include "common/reservation.h"
#include "tflite/model.h"
#include "tflite/session.h"

namespace wasinn::tflite {

// One thread at a time, but for Cancel.
class Context {
 public:
  Context(const Model& model, const wasinn_context_options& options);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  void Input(uint32_t index, wasinn_tensor* tensor) { session_->inputs().Set(index, tensor); }
  void Compute();
  void Output(uint32_t index, wasinn_tensor* view) { session_->Output(index, view); }
  void Cancel() { session_->Cancel(); }
  void DiscardOutputs();
  void BindInput(uint32_t index, const wasinn_tensor& tensor) { session_->inputs().Lend(index, tensor); }
  void UnbindInput(uint32_t index) { session_->inputs().Unset(index); }
  void TakeOutput(uint32_t index, wasinn_tensor* out) { session_->TakeOutput(index, out); }

 private:
  // The context's part of the host's threads.
  class ThreadLease {
   public:
    explicit ThreadLease(const Model& model)
        : host_(model.host()), threads_(host_.spare_threads().Take(model.config().threads)) {}
    ~ThreadLease() { host_.spare_threads().Give(threads_); }
    ThreadLease(const ThreadLease&) = delete;
    ThreadLease& operator=(const ThreadLease&) = delete;
    int threads() const { return threads_; }

   private:
    const Host& host_;
    const int threads_;
  };

  const Model& model_;
  const uint64_t max_bytes_;  // 0: no limit
  uint64_t needed_ = 0;       // for the shapes that are set, without XNNPACK
  const ThreadLease lease_;
  backend::Reservation kept_;  // for the session
  std::unique_ptr<Session> session_;
};

}  // namespace wasinn::tflite

#endif  // WASINN_BACKENDS_TFLITE_CONTEXT_H_
