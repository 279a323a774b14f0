// TensorFlow Lite's interpreter: a model with memory to run it once at a time.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "tflite/delegates.h"
#include "tflite/op_library.h"
#include "tflite/tflite_library.h"

namespace wasinn::tflite {

// TensorFlow Lite's messages during an operation; else it would write them to stderr. Thread-safe.
class Messages {
 public:
  // For TensorFlow Lite's functions that take an error reporter, with `this` as user data.
  static void Report(void* self, const char* format, va_list args);
  // All messages since the last call, in one line.
  std::string Take();

 private:
  std::mutex mutex_;
  std::string text_;
};

struct InterpreterOptions {
  int threads = 1;
  std::span<const DelegateLibrary> delegates;  // in order; each takes a part of the rest
  const Xnnpack* xnnpack = nullptr;            // NULL: none; takes a part of the rest
  std::span<const OpLibrary> op_libraries;
  TfLiteOperator* more = nullptr;  // a custom operator; NULL: none
};

class Observer;

// One thread at a time, except for Cancel.
class Interpreter {
 public:
  // Throws WASINN_ERROR_INVALID_ENCODING with TensorFlow Lite's message.
  Interpreter(const TfLiteLibrary& library, const TfLiteModel* model, const InterpreterOptions& options);
  ~Interpreter() {
    if (interpreter_ != nullptr) library_.interpreter_delete(interpreter_);
  }
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  const TfLiteLibrary& library() const { return library_; }
  TfLiteInterpreter* get() const { return interpreter_; }
  int threads() const { return threads_; }
  // The delegates that compute a part of the model, by their index in the options, then "cpu" if they leave any:
  // "adder,cpu".
  std::string Devices(std::span<const DelegateLibrary> delegates) const;
  // TensorFlow Lite's message about a failed call, with advice.
  std::string TakeMessages() const;
  // Only while it runs.
  void Cancel() const {
    if (library_.cancel != nullptr) library_.cancel(interpreter_);
  }

 private:
  const TfLiteLibrary& library_;
  const int threads_;
  mutable Messages messages_;
  std::vector<DelegatePtr> delegates_;  // the interpreter uses them to its end
  std::unique_ptr<Observer> observer_;  // after those of the options, if there are some
  TfLiteInterpreter* interpreter_ = nullptr;
};

}  // namespace wasinn::tflite
