#include "tflite/context.h"

#include <exception>
#include <utility>

namespace wasinn::tflite {

Context::Context(const Model& model, const wasinn_context_options& options)
    : model_(model),
      max_bytes_(options.max_bytes),
      lease_(model),
      kept_(model.host().services(), options.account),
      session_(model.TakeSession(lease_.threads())) {
  session_->Charge(model, {.kept = &kept_});
}

void Context::Compute() {
  // With all shapes fixed, they are those that were checked when the model was loaded.
  if (!model_.signature().all_fixed() && session_->inputs().ShapesChanged()) {
    needed_ = model_.CheckShapesFor(session_->inputs().Dims());
  }
  session_->Compute(model_, {.max_bytes = max_bytes_, .needed = needed_, .kept = &kept_});
}

Context::~Context() {
  // One that has grown would keep its memory for nobody.
  if (kept_.bytes() > model_.idle_bytes()) return;
  try {
    model_.GiveSession(std::move(session_));
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): there is no memory to remember it; then it goes
  }
}

void Context::DiscardOutputs() {
  session_->DiscardOutputs([this](int threads) { return model_.NewInterpreter(threads); });
}

}  // namespace wasinn::tflite
