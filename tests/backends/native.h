// ONNX Runtime, called as any program calls it.
#ifndef WASINN_TESTS_BACKENDS_NATIVE_H_
#define WASINN_TESTS_BACKENDS_NATIVE_H_

#include <string>
#include <vector>

#include "backends/test_host.h"

namespace wasinn::test {

// The program's own use of ONNX Runtime, in the same OS process: an environment of its own, which lives as long as
// this.
class NativeOrt {
 public:
  NativeOrt();
  ~NativeOrt();
  NativeOrt(const NativeOrt&) = delete;
  NativeOrt& operator=(const NativeOrt&) = delete;

  // Runs a model once on these inputs, in order; throws what ONNX Runtime says.
  std::vector<Tensor> Run(const std::string& model, const std::vector<Tensor>& inputs) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wasinn::test

#endif  // WASINN_TESTS_BACKENDS_NATIVE_H_
