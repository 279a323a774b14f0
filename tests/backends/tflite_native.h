// TensorFlow Lite, called as any program calls it.
#ifndef WASINN_TESTS_BACKENDS_TFLITE_NATIVE_H_
#define WASINN_TESTS_BACKENDS_TFLITE_NATIVE_H_

#include <string>
#include <vector>

#include "backends/test_host.h"

namespace wasinn::test {

// Runs a model once on these inputs, with XNNPACK or without; throws what fails.
std::vector<Tensor> RunTfLite(const std::string& model, const std::vector<Tensor>& inputs, bool xnnpack = true);

// Options for the driver: a guest's bytes, unless `path` says otherwise.
LoadOptions TfLiteOptions(const std::string& path = "");

}  // namespace wasinn::test

#endif  // WASINN_TESTS_BACKENDS_TFLITE_NATIVE_H_
