// Runs recursive third-party code that was not written for untrusted inputs.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <exception>
#include <utility>

#include "common/throw.h"

namespace wasinn::backend {

// Calls `function` on a thread of its own with a stack of `bytes`, of which only the used part takes memory, and waits.
// Rethrows its exceptions.
template <typename Function>
void RunOnLargeStack(size_t bytes, Function&& function) {
  struct Call {
    Function& function;
    std::exception_ptr thrown;
  } call = {function, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, bytes);
  pthread_t thread = {};
  const auto run = [](void* argument) -> void* {
    auto* self = static_cast<Call*>(argument);
    try {
      self->function();
    } catch (...) {
      self->thrown = std::current_exception();
    }
    return nullptr;
  };
  const int failed = pthread_create(&thread, &attributes, run, &call);
  pthread_attr_destroy(&attributes);
  if (failed != 0) Throw(WASINN_ERROR_TOO_LARGE, "there is no memory for a thread with a large stack");
  pthread_join(thread, nullptr);
  if (call.thrown != nullptr) std::rethrow_exception(std::exchange(call.thrown, nullptr));
}

}  // namespace wasinn::backend
