#include "tflite/context.h"

#include <utility>

namespace wasinn::tflite {

Context::Context(const Model& model, const wasinn_context_options& options)
    : model_(model), max_bytes_(options.max_bytes), lease_(model), session_(model.TakeSession(lease_.threads())) {}

Context::~Context() { model_.GiveSession(std::move(session_)); }

void Context::DiscardOutputs() {
  session_->DiscardOutputs([this](int threads) { return model_.NewInterpreter(threads); });
}

}  // namespace wasinn::tflite
