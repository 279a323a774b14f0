// TensorFlow, called as any program calls it.
#ifndef WASINN_TESTS_BACKENDS_TENSORFLOW_NATIVE_H_
#define WASINN_TESTS_BACKENDS_TENSORFLOW_NATIVE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/test_host.h"

namespace wasinn::test {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// A model in a session of its own; throws what TensorFlow says. Names are those of tensors in the graph.
class NativeTensorFlow {
 public:
  static NativeTensorFlow Graph(const std::string& graph);
  static NativeTensorFlow SavedModel(const std::string& folder, const std::vector<std::string>& tags);
  ~NativeTensorFlow();
  NativeTensorFlow(NativeTensorFlow&& other) noexcept;
  NativeTensorFlow& operator=(NativeTensorFlow&&) = delete;

  std::vector<Tensor> Run(const NamedTensors& inputs, const std::vector<std::string>& outputs) const;

 private:
  struct Impl;
  explicit NativeTensorFlow(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

// Run a model once.
std::vector<Tensor> RunNativeGraph(const std::string& graph, const NamedTensors& inputs,
                                   const std::vector<std::string>& outputs);
std::vector<Tensor> RunNativeSavedModel(const std::string& folder, const std::vector<std::string>& tags,
                                        const NamedTensors& inputs, const std::vector<std::string>& outputs);

}  // namespace wasinn::test

#endif  // WASINN_TESTS_BACKENDS_TENSORFLOW_NATIVE_H_
