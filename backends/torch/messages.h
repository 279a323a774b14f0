// PyTorch's words: errors and warnings.
#pragma once

#include <c10/util/Exception.h>

#include <exception>
#include <new>
#include <string>

#include "torch/call_scope.h"

namespace wasinn::torch {

// Without the trace of C++ functions, and not endless. Call it in a catch block only.
inline std::string MessageOfCurrentException() {
  constexpr size_t kLongest = 2000;
  std::string message;
  try {
    throw;
  } catch (const c10::Error& error) {
    message = error.what_without_backtrace();
  } catch (const std::bad_alloc&) {
    message = "not enough memory";
  } catch (const std::exception& error) {
    message = error.what();
  } catch (...) {
    message = "an exception of unknown type";
  }
  if (message.size() > kLongest) message = message.substr(0, kLongest) + " …";
  while (message.ends_with('\n') || message.ends_with(' ')) message.pop_back();
  return message;
}

// While it lives, PyTorch's warnings of this thread go to the host's log.
class LogWarnings {
 private:
  class Handler final : public c10::WarningHandler {
    void process(const c10::Warning& warning) override {
      if (CallScope* scope = CallScope::Current()) scope->Log(WASINN_LOG_WARNING, warning.msg());
    }
  };

  Handler handler_;
  const c10::WarningUtils::WarningHandlerGuard guard_{&handler_};
};

}  // namespace wasinn::torch
