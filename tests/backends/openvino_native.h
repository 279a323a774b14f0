// OpenVINO, called as any program calls it.
#ifndef WASINN_TESTS_BACKENDS_OPENVINO_NATIVE_H_
#define WASINN_TESTS_BACKENDS_OPENVINO_NATIVE_H_

#include <memory>
#include <string>
#include <vector>

#include "backends/test_host.h"

namespace wasinn::test {

// The program's own use of OpenVINO, in the same OS process.
class NativeOpenVino {
 public:
  NativeOpenVino();
  ~NativeOpenVino();
  NativeOpenVino(const NativeOpenVino&) = delete;
  NativeOpenVino& operator=(const NativeOpenVino&) = delete;

  // A model's file, with the weights beside it; throws what OpenVINO says.
  class Compiled;
  std::unique_ptr<Compiled> Load(const std::string& path) const;
  // Runs a model once on these inputs, in order.
  std::vector<Tensor> Run(const std::string& path, const std::vector<Tensor>& inputs) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class NativeOpenVino::Compiled {
 public:
  Compiled(const Impl& impl, const std::string& path);
  ~Compiled();
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  std::vector<Tensor> Run(const std::vector<Tensor>& inputs) const;

 private:
  struct Parts;
  const Impl& impl_;
  std::unique_ptr<Parts> parts_;
};

// A model of tests/models/openvino as a guest sends it: XML, and its weights if it has any.
std::string IrXml(const std::string& name);
LoadOptions IrOptions(const std::string& name);

}  // namespace wasinn::test

#endif  // WASINN_TESTS_BACKENDS_OPENVINO_NATIVE_H_
