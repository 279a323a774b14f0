#include "tflite/observer.h"

namespace wasinn::tflite {

Observer::Observer() {
  delegate_.known.data_ = this;
  delegate_.known.Prepare = Look;
  delegate_.known.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
}

// Once for each subgraph.
TfLiteStatus Observer::Look(TfLiteContext* context, TfLiteDelegate* self) {
  auto& seen = static_cast<Observer*>(self->data_)->seen_;
  TfLiteIntArray* plan = nullptr;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteOk;
  for (int i = 0; i < plan->size; ++i) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    if (context->GetNodeAndRegistration(context, plan->data[i], &node, &registration) != kTfLiteOk) continue;
    seen.insert(node->delegate);
  }
  return kTfLiteOk;
}

}  // namespace wasinn::tflite
