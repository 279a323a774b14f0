#include "tflite/context.h"

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "common/saturating.h"

namespace wasinn::tflite {

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
  // At once: a compute shall not fail because others compute.
  if (pooled_.count() > 1) alone_.kept.Resize(whole_.kept.bytes());
}

Context::Seat* Context::Alone() {
  if (alone_.session == nullptr) alone_.session = model_.TakeSession(1);
  alone_.session->inputs().BindAllOf(whole().inputs());
  alone_.session->outputs().BindAllOf(whole().outputs());
  return &alone_;
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
  // With all shapes fixed, they are those that were checked when the model was loaded.
  if (!model_.signature().all_fixed() && session.inputs().ShapesChanged()) {
    seat->needed = model_.CheckShapesFor(session.inputs().Dims());
  }
  session.Compute(model_, {.max_bytes = max_bytes_, .needed = seat->needed, .kept = &seat->kept}, cancelled_);
}

// They are freed where they are more than may still be held.
void Context::Hold(Seat* seat, uint64_t bytes) const {
  try {
    seat->held.Resize(bytes);
  } catch (const backend::Error&) {
    seat->session->FreeOutputs(model_.has_state());
    seat->held.Resize(0);
  }
}

void Context::Give(Seat* seat) const {
  // One that has grown would keep its memory for nobody.
  if (seat->session == nullptr || seat->kept.bytes() > model_.lasting_bytes()) return;
  model_.GiveSession(std::move(seat->session));
}

// With its interpreter it goes, where that has grown for shapes that others may never have.
void Context::Reset() {
  const uint64_t most = std::max<uint64_t>(backend::MulSat(model_.lasting_bytes(), 4), 1 << 20);
  for (Seat* seat : {&whole_, &alone_}) {
    if (seat->session == nullptr) continue;
    seat->held.Resize(0);
    seat->needed = 0;
    if (!seat->session->Reset(model_, most) || seat->kept.bytes() > most) {
      throw backend::Error(WASINN_ERROR_RUNTIME, "no other context can use the interpreter");
    }
  }
}

Context::~Context() {
  Give(&alone_);
  Give(&whole_);
}

// What only the interpreter can free goes with it, but for the state that it may have.
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
