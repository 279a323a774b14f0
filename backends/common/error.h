// Errors of a backend: C++ exceptions inside, wasinn_error at the C boundary.
#ifndef WASINN_BACKENDS_COMMON_ERROR_H_
#define WASINN_BACKENDS_COMMON_ERROR_H_

#include <wasinn/backend.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace wasinn::backend {

// An error that knows its code. Anything else that is thrown becomes WASINN_RUNTIME_ERROR.
class Error : public std::runtime_error {
 public:
  Error(wasinn_code code, const std::string& message) : std::runtime_error(message), code_(code) {}

  wasinn_code code() const { return code_; }

 private:
  wasinn_code code_;
};

// One block of memory that its own `release` frees; never NULL.
wasinn_error* MakeError(wasinn_code code, std::string_view message) noexcept;

// The error for the exception that is being handled; call it in a catch block only.
wasinn_error* MakeErrorOfCurrentException() noexcept;

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

#endif  // WASINN_BACKENDS_COMMON_ERROR_H_
