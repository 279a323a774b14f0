#include "onnx/call_scope.h"

#include "onnx/loaded_library.h"

namespace wasinn::onnx {

namespace {

thread_local const CallScope::Subject* current = nullptr;

const CallScope::Subject*& OfThread() { return current; }

// ONNX Runtime calls the functions of one copy of this library for the sessions of all.
struct Scopes {
  const CallScope::Subject*& (*of_thread)() = &OfThread;
};
constinit LoadedLibrary<Scopes> scopes;

}  // namespace

CallScope::CallScope(const Subject& subject) : subject_(subject), outer_(Current()) {
  scopes.Get().of_thread() = &subject_;
}

CallScope::~CallScope() { scopes.Get().of_thread() = outer_; }

const CallScope::Subject* CallScope::Current() { return scopes.Get().of_thread(); }

}  // namespace wasinn::onnx
