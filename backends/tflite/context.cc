#include "tflite/context.h"

#include <exception>
#include <utility>

namespace wasinn::tflite {

Context::Context(const Model& model, const wasinn_context_options& options)
    : model_(model),
      max_bytes_(options.max_bytes),
      pooled_(&model.host().pooled_threads(), model.threads(), model.threads()),
      whole_{.kept = {model.host().services(), options.account}, .session = model.TakeSession(pooled_.count())},
      alone_{.kept = {model.host().services(), options.account}, .session = nullptr},
      last_(whole_.session.get()) {
  whole().Charge(model, {.kept = &whole_.kept});
  // At once: a compute shall not fail because others compute.
  if (pooled_.count() > 1) alone_.kept.Resize(whole_.kept.bytes());
}

Context::Seat* Context::Alone() {
  if (alone_.session == nullptr) alone_.session = model_.TakeSession(1);
  alone_.session->inputs().LendAllOf(whole().inputs());
  return &alone_;
}

void Context::Compute() {
  const int wanted = pooled_.count();
  const backend::ThreadLease lease(&model_.host().spare_threads(), wanted, wanted);
  Seat* const seat = lease.count() == wanted ? &whole_ : Alone();
  Session& session = *seat->session;
  last_ = &session;
  // With all shapes fixed, they are those that were checked when the model was loaded.
  if (!model_.signature().all_fixed() && session.inputs().ShapesChanged()) {
    seat->needed = model_.CheckShapesFor(session.inputs().Dims());
  }
  session.Compute(model_, {.max_bytes = max_bytes_, .needed = seat->needed, .kept = &seat->kept});
}

void Context::Give(Seat* seat) const {
  // One that has grown would keep its memory for nobody.
  if (seat->session == nullptr || seat->kept.bytes() > model_.idle_bytes()) return;
  try {
    model_.GiveSession(std::move(seat->session));
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): there is no memory to remember it; then it goes
  }
}

Context::~Context() {
  Give(&alone_);
  Give(&whole_);
}

void Context::DiscardOutputs() {
  for (Seat* seat : {&whole_, &alone_}) {
    if (seat->session == nullptr) continue;
    seat->session->DiscardOutputs([this](int threads) { return model_.NewInterpreter(threads); });
  }
}

}  // namespace wasinn::tflite
