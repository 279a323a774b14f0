// One inference in flight, and the backend's table of functions.
#include <wasinn/backend.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "common/bases.h"
#include "common/dtype.h"
#include "common/reservation.h"
#include "common/spare_threads.h"
#include "common/table.h"
#include "common/throw.h"
#include "tflite/model.h"
#include "tflite/session.h"

namespace wasinn::tflite {

class Context : public backend::ContextBase {
 public:
  Context(const Model& model, const wasinn_slot_options& options);
  ~Context() {
    Give(&alone_);
    Give(&whole_);
  }

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
  // A session, and its charges.
  struct Seat {
    // For the session, so that they are destroyed after it.
    backend::Reservation kept;
    backend::Reservation held;  // for outputs of other contexts; the host counts this context's own
    std::unique_ptr<Session> session;
    uint64_t needed = 0;  // for the current shapes, without XNNPACK
  };

  Session& whole() { return *whole_.session; }
  Seat* Alone() {
    if (alone_.session == nullptr) alone_.session = model_.TakeSession(1);
    alone_.session->inputs().BindAllOf(whole().inputs());
    alone_.session->outputs().BindAllOf(whole().outputs());
    return &alone_;
  }
  void Give(Seat* seat) const {
    // A session that has grown would keep its memory unused.
    if (seat->session == nullptr || seat->kept.bytes() > model_.lasting_bytes()) return;
    model_.GiveSession(std::move(seat->session));
  }
  void Hold(Seat* seat, uint64_t bytes) const;

  const Model& model_;
  // An interpreter has a fixed number of threads from its creation. So there is one with as many as a compute may have,
  // which has the inputs. For times when the host has fewer to spare there is another one with only its caller's
  // thread, made at its first use.
  const backend::ThreadLease pooled_;  // for the former; 1: there were too many already
  Seat whole_, alone_;
  std::atomic<Session*> last_;  // the session of the last compute
};

Context::Context(const Model& model, const wasinn_slot_options& options)
    : ContextBase(options),
      model_(model),
      pooled_(&model.host().pooled_threads(), model.threads(), model.threads()),
      whole_{.kept = {model.host().services(), options.account},
             .held = {model.host().services(), options.account},
             .session = model.TakeSession(pooled_.count())},
      alone_{.kept = {model.host().services(), options.account},
             .held = {model.host().services(), options.account},
             .session = nullptr},
      last_(whole_.session.get()) {
  whole().Charge(model, {.kept = &whole_.kept});
  // At once: a compute must not fail because others compute.
  if (pooled_.count() > 1) alone_.kept.Resize(whole_.kept.bytes());
}

void Context::Compute() {
  Begin();
  const int wanted = pooled_.count();
  const backend::ThreadLease lease(&model_.host().spare_threads(), wanted, wanted);
  Seat* const seat = lease.count() == wanted ? &whole_ : Alone();
  Session& session = *seat->session;
  if (last_.load() != &session) {
    Seat* const other = seat == &whole_ ? &alone_ : &whole_;
    Hold(other, other->session->SetOutputsAside());
    last_ = &session;
  }
  seat->held.Resize(0);  // the host counts them from now on
  // If all shapes are fixed, they are those that were checked when the model was loaded.
  if (!model_.signature().all_fixed() && session.inputs().ShapesChanged()) {
    seat->needed = model_.CheckShapesFor(session.inputs().Dims());
  }
  session.Compute(model_, {.max_bytes = max_bytes_, .needed = seat->needed, .kept = &seat->kept}, cancelled_);
}

// They are freed if they exceed the limit.
void Context::Hold(Seat* seat, uint64_t bytes) const {
  try {
    seat->held.Resize(bytes);
  } catch (const backend::Error&) {
    seat->session->FreeOutputs(model_.has_state());
    seat->held.Resize(0);
  }
}

// Frees the interpreter, too, if it has grown for shapes that others may never have.
void Context::Reset() {
  const uint64_t most = std::max<uint64_t>(backend::MulSat(model_.lasting_bytes(), 4), 1 << 20);
  for (Seat* seat : {&whole_, &alone_}) {
    if (seat->session == nullptr) continue;
    seat->held.Resize(0);
    seat->needed = 0;
    if (!seat->session->Reset(model_, most) || seat->kept.bytes() > most) {
      backend::Throw(WASINN_ERROR_RUNTIME, "no other context can use the interpreter");
    }
  }
}

// Memory that only the interpreter can free is freed with it, unless it may have a state.
void Context::DiscardOutputs() {
  for (Seat* seat : {&whole_, &alone_}) {
    if (seat->session == nullptr) continue;
    seat->session->DiscardOutputs();
    const uint64_t held = seat->session->HeldByOutputs();
    if (held == 0) continue;
    if (model_.has_state()) {
      Hold(seat, held);
    } else {
      seat->session->FreeOutputs(false);
      seat->held.Resize(0);
    }
  }
}

}  // namespace wasinn::tflite

const wasinn_backend* wasinn_backend_query(uint16_t host_abi_major, uint16_t /*host_abi_minor*/) {
  using namespace wasinn::tflite;
  return wasinn::backend::Query<Host, Model, Context>(host_abi_major, "tensorflowlite",
                                                      {.name = "tflite",
                                                       .version = WASINN_BACKEND_VERSION,
                                                       .formats = {},
                                                       .keys = Keys(),
                                                       .install = "scripts/deps.sh tflite"});
}
