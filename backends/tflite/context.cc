#include "tflite/context.h"

#include <utility>

namespace wasinn::tflite {

Context::Context(const Model& model, const wasinn_context_options& options)
    : model_(model), max_bytes_(options.max_bytes), lease_(model), session_(model.TakeSession(lease_.threads())) {}

void Context::Compute() {
  // With all shapes fixed, they are those that were checked when the model was loaded.
  if (!model_.signature().all_fixed() && session_->inputs().ShapesChanged()) {
    model_.CheckShapesFor(session_->inputs().Dims());
  }
  session_->Compute(max_bytes_, model_.scan());
}

Context::~Context() { model_.GiveSession(std::move(session_)); }

void Context::DiscardOutputs() {
  session_->DiscardOutputs([this](int threads) { return model_.NewInterpreter(threads); });
}

}  // namespace wasinn::tflite
