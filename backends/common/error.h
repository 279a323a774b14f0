// Errors of a backend: C++ exceptions inside, wasinn_error at the C boundary.
#pragma once

#include <wasinn/backend.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace wasinn::backend {

// An error with a code. Any other exception becomes WASINN_ERROR_RUNTIME.
class Error : public std::runtime_error {
 public:
  Error(wasinn_code code, const std::string& message) : std::runtime_error(message), code_(code) {}

  wasinn_code code() const { return code_; }

 private:
  wasinn_code code_;
};

// For a moment in which there is no memory even for an error.
inline wasinn_error* OutOfMemory() noexcept {
  static wasinn_error error = {sizeof(wasinn_error), WASINN_ERROR_TOO_LARGE, "out of memory", [](wasinn_error*) {}};
  return &error;
}

// One block of memory that its own `release` frees; never NULL.
inline wasinn_error* MakeError(wasinn_code code, std::string_view message) noexcept {
  void* memory = std::malloc(sizeof(wasinn_error) + message.size() + 1);
  if (memory == nullptr) return OutOfMemory();
  char* text = static_cast<char*>(memory) + sizeof(wasinn_error);
  std::memcpy(text, message.data(), message.size());
  text[message.size()] = '\0';
  return new (memory) wasinn_error{sizeof(wasinn_error), code, text, [](wasinn_error* error) { std::free(error); }};
}

// The error for the current exception; call it only in a catch block.
inline wasinn_error* MakeErrorOfCurrentException() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return MakeError(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  } catch (const std::exception& error) {
    return MakeError(WASINN_ERROR_RUNTIME, error.what());
  } catch (...) {
    return MakeError(WASINN_ERROR_RUNTIME, "an exception of an unknown type");
  }
}

// Runs the body of a function of the backend table: no exception leaves it.
template <typename Function>
wasinn_error* Guard(Function&& function) noexcept {
  try {
    std::forward<Function>(function)();
    return nullptr;
  } catch (...) {
    return MakeErrorOfCurrentException();
  }
}

}  // namespace wasinn::backend
