// Libraries of custom operators.
#pragma once

#include <string>

#include "tflite/tflite_library.h"

namespace wasinn::tflite {

// A library in the form of mediapipe-custom-ops: a function that adds the operators to an interpreter's options.
class OpLibrary {
 public:
  // Open for the life of the OS process. Throws WASINN_ERROR_UNSUPPORTED_OPERATION that names the library.
  explicit OpLibrary(const std::string& path);

  void AddTo(TfLiteInterpreterOptions* options) const { add_(options); }

 private:
  void (*add_)(TfLiteInterpreterOptions*) = nullptr;
};

}  // namespace wasinn::tflite
