#include "onnx/call_scope.h"

namespace wasinn::onnx {

namespace {

thread_local const CallScope::Subject* current = nullptr;

}  // namespace

CallScope::CallScope(const Subject& subject) : subject_(subject), outer_(current) { current = &subject_; }

CallScope::~CallScope() { current = outer_; }

const CallScope::Subject* CallScope::Current() { return current; }

}  // namespace wasinn::onnx
